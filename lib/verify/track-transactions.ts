import type { FetchedBatch } from '../kafka/record-batch/decode.ts'
import type { LogTransaction } from './history.ts'
import type { SeenBatch } from './read-batches.ts'

/**
 * Learns from the markers of one partition what became of each transaction, batch by batch in log order. Knows nothing of
 * the broker's own list of aborted transactions: what that list lets through is judged by this.
 *
 * A producer has at most one open transaction in a partition. Its marker may bear a higher epoch than its data: that of
 * the next transaction (transaction.version 2), or of the session that fenced it.
 */
export class TransactionTracker {
  private readonly found: { -readonly [Field in keyof LogTransaction]: LogTransaction[Field] }[] = []
  private readonly openOf = new Map<bigint, number>()

  get transactions(): readonly LogTransaction[] {
    return this.found
  }

  /** Whether readers were shown records of a transaction that has no marker yet. */
  get isWaiting(): boolean {
    return [...this.openOf.values()].some((index) => (this.found[index]?.visible ?? 0) > 0)
  }

  /** Index of the batch's transaction; -1 when it is not transactional, or a marker. */
  pass({ batch, visible }: SeenBatch): number {
    if (batch.isControl) this.mark(batch)
    if (batch.isControl || !batch.isTransactional) return -1
    const index = this.openOf.get(batch.producerId) ?? this.begin(batch)
    const transaction = this.found[index]
    if (transaction) transaction[visible ? 'visible' : 'hidden'] += batch.recordCount
    return index
  }

  /** Takes note of a marker. */
  mark(batch: FetchedBatch): void {
    const kind = batch.controlKind()
    if (kind === 'other') return
    const index = this.openOf.get(batch.producerId) ?? this.begin(batch)
    const transaction = this.found[index]
    if (transaction) {
      transaction.fate = kind === 'commit' ? 'committed' : 'aborted'
      transaction.markerOffset = batch.baseOffset
    }
    this.openOf.delete(batch.producerId)
  }

  private begin({ producerId, producerEpoch, baseOffset: firstOffset }: FetchedBatch): number {
    const index = this.found.length
    this.found.push({ producerId, producerEpoch, firstOffset, markerOffset: null, fate: 'open', visible: 0, hidden: 0 })
    this.openOf.set(producerId, index)
    return index
  }
}
