import type { FetchedBatch } from './batch.ts'

/** From a Fetch answer: from `firstOffset` on, the producer's records are aborted until its next abort marker. */
export interface AbortedTransaction {
  readonly producerId: bigint
  readonly firstOffset: bigint
}

/**
 * Tells, batch by batch in log order, which ones belong to aborted transactions. For one partition of one Fetch answer:
 * the list is complete for exactly the batches that came with it (R9).
 *
 * Brokers list transactions by completion, not by first offset, and a producer may be listed several times: each entry
 * waits until the log reaches it, and an abort marker ends the entry that is open then (Kafka: CompletedFetch.java).
 */
export class AbortedFilter {
  private readonly waiting: AbortedTransaction[]
  private readonly aborting = new Set<bigint>()

  constructor(aborted: readonly AbortedTransaction[]) {
    this.waiting = aborted.toSorted((a, b) => (a.firstOffset < b.firstOffset ? 1 : -1))
  }

  /** Whether the batch is data that a read_committed reader may see. Call once per batch, in log order. */
  accepts(batch: FetchedBatch): boolean {
    this.openUpTo(batch.lastOffset)
    if (batch.isControl) {
      if (batch.controlKind() === 'abort') this.aborting.delete(batch.producerId)
      return false
    }
    return !(batch.isTransactional && this.aborting.has(batch.producerId))
  }

  /** The earliest is last, so that it can be popped. */
  private openUpTo(lastOffset: bigint): void {
    for (let next = this.waiting.at(-1); next && next.firstOffset <= lastOffset; next = this.waiting.at(-1)) {
      this.aborting.add(next.producerId)
      this.waiting.pop()
    }
  }
}
