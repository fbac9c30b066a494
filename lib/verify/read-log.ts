import type { Cluster } from '../kafka/cluster.ts'
import { tpKey } from '../kafka/record.ts'
import { greatest, offsetsAt } from './positions.ts'
import type { Progress } from './progress.ts'
import { type LogRange, readLogBatches, type SeenBatch } from './read-batches.ts'
import { TransactionTracker } from './track-transactions.ts'

export interface LogRead {
  /** What the markers say of all transactions in the range. */
  readonly transactions: TransactionTracker['transactions']
  /** Offsets of the range without a record: only compaction makes such holes. */
  readonly removed: bigint
}

/** Reads a range as read_committed and hands out what readers see of it, with the index of its transaction. */
export async function readLog(
  cluster: Cluster,
  range: LogRange,
  progress: Progress,
  see: (batch: SeenBatch['batch'], transaction: number) => void | Promise<void>,
): Promise<LogRead> {
  const tracker = new TransactionTracker()
  let [next, removed] = [range.from, 0n]
  for await (const seen of readLogBatches(cluster, range)) {
    const { batch, visible } = seen
    const transaction = tracker.pass(seen)
    progress.read(batch.recordCount)
    if (visible) await see(batch, transaction)
    removed += holeBetween(next, batch.baseOffset) + batch.nextOffset - batch.baseOffset - BigInt(batch.recordCount)
    next = batch.nextOffset
  }
  await findMarkers(cluster, range, tracker)
  return { transactions: tracker.transactions, removed: removed + holeBetween(next, range.until) }
}

const holeBetween = (next: bigint, found: bigint): bigint => greatest(0n, found - next)

/**
 * The marker of a finished transaction may stand behind the range: another one that is still open ends what readers can
 * see, and the range, between its records and its marker.
 */
async function findMarkers(cluster: Cluster, range: LogRange, tracker: TransactionTracker): Promise<void> {
  if (!tracker.isWaiting) return
  const until = (await offsetsAt(cluster, [range], 'latest')).get(tpKey(range)) ?? range.until
  const rest: LogRange = { ...range, from: range.until, until, isolation: 'read_uncommitted' }
  for await (const { batch } of readLogBatches(cluster, rest)) {
    if (batch.isControl) tracker.mark(batch)
    if (!tracker.isWaiting) return
  }
}
