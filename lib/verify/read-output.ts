import type { Cluster } from '../kafka/cluster.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import { Column } from './columns.ts'
import type { DeliveredRecords, LogTransaction } from './history.ts'
import { type DeadLetterOrigin, deadLetterOrigin, type Identity } from './identity.ts'
import type { Progress } from './progress.ts'
import { type LogRange, readLogBatches } from './read-batches.ts'
import { TransactionTracker } from './track-transactions.ts'

export interface OutputAsk extends LogRange {
  /** Index of the partition among all outputs. */
  readonly output: number
  readonly isDeadLetters: boolean
  readonly sinceMs: number | null
}

export interface OutputRead {
  readonly delivered: DeliveredRecords
  readonly transactions: readonly LogTransaction[]
  /** In log order. */
  readonly deadLetters: readonly (DeadLetterOrigin | null)[]
}

/** What read_committed readers see in one output partition, reduced to identities. */
export async function readOutput(
  cluster: Cluster,
  ask: OutputAsk,
  identity: Identity,
  progress: Progress,
): Promise<OutputRead> {
  const delivered = new DeliveredColumns()
  const tracker = new TransactionTracker()
  const deadLetters: (DeadLetterOrigin | null)[] = []
  for await (const seen of readLogBatches(cluster, ask)) {
    const transaction = tracker.pass(seen)
    if (!seen.visible) continue
    for (const record of seen.batch.records()) {
      if (!isAsked(ask, record)) continue
      if (ask.isDeadLetters) deadLetters.push(deadLetterOrigin(record))
      delivered.push(identity, ask, record, transaction)
    }
    progress.read(seen.batch.recordCount)
  }
  return { delivered, transactions: tracker.transactions, deadLetters }
}

const isAsked = ({ from, until, sinceMs }: OutputAsk, { offset, timestampMs }: KafkaRecord): boolean =>
  offset >= from && offset < until && (sinceMs === null || timestampMs >= sinceMs)

class DeliveredColumns implements DeliveredRecords {
  private readonly highs = new Column(Int32Array)
  private readonly lows = new Column(Int32Array)
  private readonly offsets = new Column(Float64Array)
  private readonly transactions = new Column(Int32Array)

  push(identity: Identity, { topic, output }: OutputAsk, record: KafkaRecord, transaction: number): void {
    const fingerprint = identity.of(topic, output, record)
    if (fingerprint === null) return
    this.highs.push(fingerprint.high)
    this.lows.push(fingerprint.low)
    this.offsets.push(Number(record.offset))
    this.transactions.push(transaction)
  }

  get high(): Int32Array {
    return this.highs.values
  }
  get low(): Int32Array {
    return this.lows.values
  }
  get offset(): Float64Array {
    return this.offsets.values
  }
  get transaction(): Int32Array {
    return this.transactions.values
  }
}
