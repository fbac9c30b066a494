import { expect } from 'vitest'
import { systemRandom } from '../../lib/clock.ts'
import { isRelayError, type RelayError } from '../../lib/errors.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import { fetchCommitted } from '../../lib/kafka/committed.ts'
import { type Isolation, readPartitions } from '../../lib/kafka/fetch.ts'
import { listOffsets } from '../../lib/kafka/offsets.ts'
import type { TopicPartition } from '../../lib/kafka/record.ts'
import { BatchBuilder } from '../../lib/kafka/record-batch/encode.ts'
import { openSession } from '../../lib/transaction/open-session.ts'
import type {
  OffsetToCommit,
  PartitionBatches,
  SessionConfig,
  TransactionSession,
} from '../../lib/transaction/session.ts'
import { recordsAtMs, within } from './kafka-client.ts'
import { freshName } from './stack.ts'

/** One lane: its names, and the partition whose offset it commits. */
export interface TestLane extends SessionConfig {
  readonly source: TopicPartition
}

export const laneOn = (topic: string, over: Partial<SessionConfig> = {}): TestLane => ({
  transactionalId: freshName('id'),
  group: freshName('group'),
  transactionTimeoutMs: 60_000,
  source: { topic, partition: 0 },
  ...over,
})

/** Barrier and offset read, as every window needs them. */
export async function openReady(cluster: Cluster, lane: TestLane): Promise<TransactionSession> {
  const session = await openSession(cluster, lane, systemRandom, within(20_000))
  await session.readCommitted([lane.source], within(10_000))
  return session
}

export const offsetOf = (lane: TestLane, offset: number, metadata = ''): OffsetToCommit => ({
  ...lane.source,
  offset: BigInt(offset),
  leaderEpoch: -1,
  metadata,
})

/** One batch a list of values. */
export function batches(topic: string, partition: number, ...lists: readonly (readonly string[])[]): PartitionBatches {
  return { topic, partition, batches: lists.map((values) => batch(values)) }
}

export function batch(values: readonly string[], maxBytes = 10_000_000): BatchBuilder {
  const builder = new BatchBuilder({ maxBytes })
  for (const value of values) {
    const added = builder.tryAppend({ key: null, value: Buffer.from(value), timestampMs: recordsAtMs })
    if (!added) throw new Error('the batch is full')
  }
  return builder
}

/** A whole window: outputs of partition 0, the source offset, commit. */
export async function window(
  session: TransactionSession,
  lane: TestLane,
  topic: string,
  values: readonly string[],
  until: number,
): Promise<void> {
  await session.begin([{ topic, partition: 0 }], within(10_000))
  await Promise.all([
    session.send([batches(topic, 0, values)], within(10_000)),
    session.sendOffsets([offsetOf(lane, until)], within(10_000)),
  ])
  await session.commit(within(10_000))
}

/** The end of one partition, once readers can see up to it: the markers of a transaction come after the answer to its end. */
export async function readableEnd(cluster: Cluster, topic: string, partition = 0): Promise<bigint> {
  const ends = async () => {
    const at = (seenBy: Isolation) => endOf(cluster, topic, partition, seenBy)
    return { stable: await at('read_committed'), last: await at('read_uncommitted') }
  }
  await expect.poll(ends, { timeout: 15_000 }).toSatisfy(({ stable, last }) => stable === last)
  return endOf(cluster, topic, partition, 'read_committed')
}

/** What a reader sees of one partition, all of it. */
export async function valuesIn(
  cluster: Cluster,
  topic: string,
  partition = 0,
  isolation: Isolation = 'read_committed',
): Promise<string[]> {
  await readableEnd(cluster, topic, partition)
  return visibleNow(cluster, topic, partition, isolation)
}

/** What a reader sees of one partition at this moment, up to its last stable record: for while a transaction is open. */
export async function visibleNow(
  cluster: Cluster,
  topic: string,
  partition = 0,
  isolation: Isolation = 'read_committed',
): Promise<string[]> {
  const topicId = (await cluster.topics([topic], within(5_000), 'fresh')).get(topic)?.topicId ?? ''
  const end = await endOf(cluster, topic, partition, isolation)
  const values: string[] = []
  for (let from = 0n; from < end; ) {
    const ask = { topic, topicId, partition, from, until: end, maxBytes: 10_000_000 }
    const [found] = await readPartitions(
      cluster,
      [ask],
      { maxBytes: 10_000_000, maxWaitMs: 100, isolation },
      within(5_000),
    )
    if (found === undefined || found.error) throw found?.error ?? new Error('nothing was answered')
    values.push(...found.records.map((record) => String(record.value)))
    from = found.until
  }
  return values
}

async function endOf(cluster: Cluster, topic: string, partition: number, isolation: Isolation): Promise<bigint> {
  const [end] = await listOffsets(cluster, [{ topic, partition }], { at: 'latest', isolation }, within(5_000))
  if (end === undefined || 'error' in end) throw new Error(`no end of ${topic}-${partition}`)
  return end.offset
}

/** The committed offset as a bystander reads it, without any barrier. */
export async function committedOf(cluster: Cluster, lane: TestLane, requireStable = false): Promise<unknown> {
  const question = { group: lane.group, partitions: [lane.source], requireStable }
  const [answer] = await fetchCommitted(cluster, question, within(5_000))
  if (answer === undefined || 'error' in answer) throw answer?.error ?? new Error('nothing was answered')
  return 'unstable' in answer ? 'unstable' : answer.offset === null ? null : Number(answer.offset)
}

/** The same, once the markers of what went before have reached the group: its coordinator learns of an end later than us. */
export async function settledOffset(cluster: Cluster, lane: TestLane): Promise<unknown> {
  let told: unknown = 'unstable'
  const ask = async () => {
    told = await committedOf(cluster, lane, true)
    return told
  }
  await expect.poll(ask, { timeout: 15_000 }).not.toBe('unstable')
  return told
}

/** The error that a promise must be rejected with. */
export async function failureOf(work: Promise<unknown>): Promise<RelayError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason) => reason,
  )
  if (isRelayError(error)) return error
  throw error
}
