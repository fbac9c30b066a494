import { deadlineIn } from '../../lib/clock.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import type { TopicPartition } from '../../lib/kafka/record.ts'
import { tpKey } from '../../lib/kafka/record.ts'
import type { FetchedBatch } from '../../lib/kafka/record-batch/batch.ts'
import { offsetsAt } from '../../lib/verify/positions.ts'
import { readLogBatches } from '../../lib/verify/read-batches.ts'

/** A stretch of time, by the brokers' clock. */
export interface Span {
  readonly fromMs: number
  readonly untilMs: number
}

export interface Commits {
  /** Commit markers written in the span. */
  readonly markers: number
  /** Records due in the span: from then until the marker that shows them to readers was written. */
  readonly latenciesMs: readonly number[]
}

const requestMs = 30_000

/** What the log of a topic says about the transactions that ended in a span: read afterwards, so that nobody reads meanwhile. */
export async function readCommits(cluster: Cluster, topic: string, span: Span): Promise<Commits> {
  const found = (await cluster.topics([topic], deadlineIn(cluster.clock, requestMs), 'fresh')).get(topic)
  const { topicId = '', partitions = [] } = found ?? {}
  const places = partitions.map(({ partition }) => ({ topic, topicId, partition }))
  const ends = await offsetsAt(cluster, places, 'latest')
  const tally = { markers: 0, latenciesMs: [] as number[] }
  for (const place of places) await readPartition(cluster, place, ends.get(tpKey(place)) ?? 0n, span, tally)
  return tally
}

async function readPartition(
  cluster: Cluster,
  place: TopicPartition & { readonly topicId: string },
  until: bigint,
  span: Span,
  tally: { markers: number; readonly latenciesMs: number[] },
): Promise<void> {
  /** Due times of records whose transaction is open, by producer: each has one at a time. */
  const open = new Map<bigint, number[]>()
  for await (const { batch } of readLogBatches(cluster, { ...place, from: 0n, until, isolation: 'read_uncommitted' })) {
    if (!batch.isControl) noteRecords(open, batch)
    else if (batch.controlKind() !== 'other') end(open, batch, span, tally)
  }
}

function noteRecords(open: Map<bigint, number[]>, batch: FetchedBatch): void {
  const dueMs = open.get(batch.producerId) ?? []
  for (const { timestampMs } of batch.isTransactional ? batch.records() : []) dueMs.push(timestampMs)
  open.set(batch.producerId, dueMs)
}

function end(
  open: Map<bigint, number[]>,
  batch: FetchedBatch,
  span: Span,
  tally: { markers: number; latenciesMs: number[] },
) {
  const isIn = (ms: number) => ms >= span.fromMs && ms < span.untilMs
  const dueMs = open.get(batch.producerId) ?? []
  open.delete(batch.producerId)
  if (batch.controlKind() !== 'commit') return
  if (isIn(batch.maxTimestampMs)) tally.markers++
  for (const ms of dueMs) if (isIn(ms)) tally.latenciesMs.push(batch.maxTimestampMs - ms)
}
