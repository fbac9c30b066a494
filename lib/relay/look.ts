import type { Deadline } from '../clock.ts'
import { type CommittedAnswer, fetchCommitted, listOffsets } from '../kafka/offsets.ts'
import { tpKey } from '../kafka/record.ts'
import { type Bell, ringsFor } from './bell.ts'
import { parseCommitMetadata } from './commit-metadata.ts'
import type { LaneId } from './lane-id.ts'
import type { RelayTopics } from './relay-topics.ts'
import type { RelayRuntime } from './runtime.ts'

/** What step 0 saw of one lane. A stale answer is only ever too low: it costs work, never data. */
export interface Look {
  /** Everything that the bell rang for is committed already (or, for a pull, there is nothing to read). */
  readonly past: boolean
  /** Every partition has a committed offset: the fence record may be marked dirty by the acquire itself (R8). */
  readonly allCommitted: boolean
  /** Last stable offset per partition: as far as this bell drains (R13). Absent where no broker could tell. */
  readonly stableUntil: ReadonlyMap<number, bigint>
}

/**
 * Step 0: all lanes of the bell at once, two requests in parallel, no barrier, no fence write.
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
  const [committed, ends] = await Promise.all([
    fetchCommitted(runtime.cluster, { group: first.group, partitions, requireStable: true }, deadline),
    listOffsets(
      runtime.cluster,
      partitions.map((one) => ({ ...one, topicId: topics.sourceTopicId })),
      { at: 'latest', isolation: 'read_committed' },
      deadline,
    ),
  ])
  const committedBy = new Map(committed.map((answer) => [tpKey(answer), answer]))
  const endBy = new Map(ends.map((answer) => [tpKey(answer), 'offset' in answer ? answer.offset : null]))
  return new Map(lanes.map((lane) => [lane, lookAt(lane, topics, bell, committedBy, endBy)]))
}

function lookAt(
  lane: LaneId,
  topics: RelayTopics,
  bell: Bell,
  committedBy: ReadonlyMap<string, CommittedAnswer>,
  endBy: ReadonlyMap<string, bigint | null>,
): Look {
  const stableUntil = new Map<number, bigint>()
  let past = true
  let allCommitted = true
  for (const partition of lane.partitions) {
    const key = tpKey({ topic: lane.topic, partition })
    const end = endBy.get(key) ?? null
    if (end !== null) stableUntil.set(partition, end)
    const answer = committedBy.get(key)
    const offset = answer && 'offset' in answer ? answer.offset : null
    if (offset === null) allCommitted = false
    past &&= offset !== null && isPast(lane, topics, bell, partition, offset, end, answer)
  }
  return { past, allCommitted, stableUntil }
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
