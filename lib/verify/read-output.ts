import type { Cluster } from '../kafka/cluster.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import { type DeadLetter, parseDeadLetter } from '../relay/transform/dead-letter.ts'
import type { DeliveredRecords } from './history.ts'
import type { Identity } from './identity.ts'
import type { Progress } from './progress.ts'
import type { LogRange } from './read-batches.ts'
import { type LogRead, readLog } from './read-log.ts'
import { DeliveredColumns } from './record-columns.ts'

/** What a dead letter names: without the headers of its record, which would keep all that was read with them. */
export type DeadLetterOrigin = Omit<DeadLetter, 'headers' | 'isCut'>

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
  /** What the dead letters name, those of any time: their records must not be transformed. */
  readonly deadLetters: readonly DeadLetterOrigin[]
}

/** What read_committed readers see in one output partition, reduced to identities. Dead letters are dated by their source. */
export async function readOutput(
  cluster: Cluster,
  ask: OutputAsk,
  identity: Identity,
  progress: Progress,
): Promise<OutputRead> {
  const { sinceMs, isDeadLetters } = ask
  const delivered = new DeliveredColumns()
  const deadLetters: DeadLetterOrigin[] = []
  let isDatedAnew = false
  const read = await readLog(cluster, ask, progress, (batch, transaction) => {
    if (sinceMs !== null && !isDeadLetters && batch.timestampType === 'LogAppendTime') isDatedAnew = true
    for (const record of batch.records()) {
      if (!isInRange(ask, record)) continue
      const letter = isDeadLetters ? parseDeadLetter(record.headers) : null
      if (letter) deadLetters.push(originOf(letter))
      if (sinceMs !== null && (letter ?? record).timestampMs < sinceMs) continue
      const fingerprint = identity.of(ask.topic, ask.output, record)
      if (fingerprint) delivered.push(record.offset, transaction, fingerprint)
    }
  })
  return { ...read, delivered: delivered.records, isDatedAnew, deadLetters }
}

const isInRange = ({ from, until }: OutputAsk, { offset }: KafkaRecord): boolean => offset >= from && offset < until

function originOf({ headers: _, isCut: __, ...origin }: DeadLetter): DeadLetterOrigin {
  return origin
}
