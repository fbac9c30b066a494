import type { Deadline } from '../clock.ts'
import type { Isolation } from '../kafka/fetch.ts'
import { type CommittedAnswer, fetchCommitted, listOffsets } from '../kafka/offsets.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import { type Bell, ringsFor } from './bell.ts'
import { parseCommitMetadata } from './commit-metadata.ts'
import type { LaneId } from './lane-id.ts'
import type { RelayTopics } from './relay-topics.ts'
import type { RelayRuntime } from './runtime.ts'

/** What step 0 saw of one lane. A stale answer is only ever too low: it costs work, never data. */
export interface Look {
  /** Everything that the bell rang for is committed already (or, for a pull, there is nothing to read). */
  readonly past: boolean
  /** The committed offset per partition; absent where there is none, or none that is certain. */
  readonly committed: ReadonlyMap<number, bigint>
  /** Every partition has a committed offset: the fence record may be marked dirty by the acquire itself (R8). */
  readonly allCommitted: boolean
  /** Last stable offset per partition: as far as this bell drains (R13). Absent where no broker could tell. */
  readonly stableUntil: ReadonlyMap<number, bigint>
  /** Partitions with records above it, which nobody can read yet. Only a pull asks: an event knows what lies behind (R15). */
  readonly heldBack: readonly number[]
}

/** A commit of ours that was answered a moment ago may still be on its way to the offsets topic. */
const settleMs = 3
const settleTriesMax = 8

/**
 * Step 0: all lanes of the bell at once, two requests in parallel (a pull: three), no barrier, no fence write.
 * An unstable offset (88), an error or anything strange is no verdict: the lane is opened and reconciled.
 */
export async function look(
  runtime: RelayRuntime,
  topics: RelayTopics,
  lanes: readonly LaneId[],
  bell: Bell,
  deadline: Deadline,
): Promise<ReadonlyMap<LaneId, Look>> {
  const [first] = lanes
  if (!first) return new Map()
  const partitions = lanes.flatMap(({ topic, partitions }) => partitions.map((partition) => ({ topic, partition })))
  const asks = partitions.map((one) => ({ ...one, topicId: topics.sourceTopicId }))
  const endsFor = (isolation: Isolation) => listOffsets(runtime.cluster, asks, { at: 'latest', isolation }, deadline)
  const [committed, ends, logEnds] = await Promise.all([
    committedOnceSettled(runtime, first.group, partitions, deadline),
    endsFor('read_committed'),
    bell.kind === 'pull' ? endsFor('read_uncommitted') : [],
  ])
  const committedBy = new Map(committed.map((answer) => [tpKey(answer), answer]))
  const found = { committedBy, endBy: offsetsBy(ends), logEndBy: offsetsBy(logEnds) }
  return new Map(lanes.map((lane) => [lane, lookAt(lane, topics, bell, found)]))
}

interface Found {
  readonly committedBy: ReadonlyMap<string, CommittedAnswer>
  readonly endBy: ReadonlyMap<string, bigint | null>
  readonly logEndBy: ReadonlyMap<string, bigint | null>
}

const offsetsBy = (answers: Awaited<ReturnType<typeof listOffsets>>): ReadonlyMap<string, bigint | null> =>
  new Map(answers.map((answer) => [tpKey(answer), 'offset' in answer ? answer.offset : null]))

/** A few milliseconds are well spent: an unstable answer costs a barrier, and most often for nothing. */
async function committedOnceSettled(
  runtime: RelayRuntime,
  group: string,
  partitions: readonly TopicPartition[],
  deadline: Deadline,
): Promise<readonly CommittedAnswer[]> {
  for (let tries = 1; ; tries++) {
    const answers = await fetchCommitted(runtime.cluster, { group, partitions, requireStable: true }, deadline)
    if (tries === settleTriesMax || !answers.some((answer) => 'unstable' in answer)) return answers
    await runtime.clock.sleep(settleMs)
  }
}

function lookAt(lane: LaneId, topics: RelayTopics, bell: Bell, { committedBy, endBy, logEndBy }: Found): Look {
  const stableUntil = new Map<number, bigint>()
  const committed = new Map<number, bigint>()
  const heldBack: number[] = []
  let past = true
  for (const partition of lane.partitions) {
    const key = tpKey({ topic: lane.topic, partition })
    const end = endBy.get(key) ?? null
    if (end !== null) stableUntil.set(partition, end)
    if (end !== null && (logEndBy.get(key) ?? end) > end) heldBack.push(partition)
    const answer = committedBy.get(key)
    const offset = answer && 'offset' in answer ? answer.offset : null
    if (offset !== null) committed.set(partition, offset)
    past &&= offset !== null && isPast(lane, topics, bell, partition, offset, end, answer)
  }
  return { past, committed, allCommitted: committed.size === lane.partitions.length, stableUntil, heldBack }
}

function isPast(
  lane: LaneId,
  topics: RelayTopics,
  bell: Bell,
  partition: number,
  offset: bigint,
  end: bigint | null,
  answer: CommittedAnswer | undefined,
): boolean {
  const metadata = parseCommitMetadata(answer && 'metadata' in answer ? answer.metadata : '')
  const ours = metadata?.id === lane.transactionalId && metadata.topicId === topics.sourceTopicId
  if (!ours || end === null || offset > end) return false
  if (bell.kind === 'pull') return offset === end
  const rung = ringsFor(bell, partition)
  return rung === undefined || offset > rung.lastOffset
}
