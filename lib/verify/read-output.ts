import type { Cluster } from '../kafka/cluster.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import type { DeliveredRecords } from './history.ts'
import { type DeadLetterOrigin, deadLetterOrigin, type Identity } from './identity.ts'
import type { Progress } from './progress.ts'
import type { LogRange } from './read-batches.ts'
import { type LogRead, readLog } from './read-log.ts'
import { DeliveredColumns } from './record-columns.ts'

export interface OutputAsk extends LogRange {
  /** Index of the partition among all outputs. */
  readonly output: number
  readonly isDeadLetters: boolean
  /** Milliseconds since the epoch: older records are left out; null for all. */
  readonly sinceMs: number | null
}

export interface OutputRead extends LogRead {
  readonly delivered: DeliveredRecords
  /** A time is asked for, and the topic has message.timestamp.type=LogAppendTime. */
  readonly isDatedAnew: boolean
  /** What the dead letters among them name. */
  readonly deadLetters: readonly DeadLetterOrigin[]
}

/** What read_committed readers see in one output partition, reduced to identities. */
export async function readOutput(
  cluster: Cluster,
  ask: OutputAsk,
  identity: Identity,
  progress: Progress,
): Promise<OutputRead> {
  const delivered = new DeliveredColumns()
  const deadLetters: DeadLetterOrigin[] = []
  let isDatedAnew = false
  const read = await readLog(cluster, ask, progress, (batch, transaction) => {
    if (ask.sinceMs !== null && batch.timestampType === 'LogAppendTime') isDatedAnew = true
    for (const record of batch.records()) {
      if (!isAsked(ask, record)) continue
      const origin = ask.isDeadLetters ? deadLetterOrigin(record) : null
      if (origin) deadLetters.push(origin)
      const fingerprint = identity.of(ask.topic, ask.output, record)
      if (fingerprint) delivered.push(record.offset, transaction, fingerprint)
    }
  })
  return { ...read, delivered: delivered.records, isDatedAnew, deadLetters }
}

const isAsked = ({ from, until, sinceMs }: OutputAsk, { offset, timestampMs }: KafkaRecord): boolean =>
  offset >= from && offset < until && (sinceMs === null || timestampMs >= sinceMs)
