import { type Deadline, deadlineIn } from '../clock.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { type CommittedAnswer, fetchCommitted } from '../kafka/committed.ts'
import type { Isolation } from '../kafka/fetch.ts'
import { listOffsets } from '../kafka/offsets.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import { seconds } from '../units.ts'

/** By `tpKey`. */
export type Offsets = ReadonlyMap<string, bigint>

export const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

const pauseMs = 50
const askMs = seconds(20)

/** By `tpKey`. A moment without any record at or after it answers the partition's end. @throws RelayError */
export async function offsetsAt(
  cluster: Cluster,
  partitions: readonly TopicPartition[],
  at: 'earliest' | 'latest' | number,
  isolation: Isolation = 'read_uncommitted',
): Promise<Offsets> {
  const answers = await listOffsets(cluster, partitions, { at, isolation }, deadlineIn(cluster.clock, askMs))
  const found = new Map<string, bigint>()
  const none: TopicPartition[] = []
  for (const answer of answers) {
    if ('error' in answer) throw answer.error
    if (answer.offset < 0n) none.push(answer)
    else found.set(tpKey(answer), answer.offset)
  }
  const ends: Offsets = none.length > 0 ? await offsetsAt(cluster, none, 'latest', isolation) : new Map()
  return new Map([...found, ...ends])
}

export interface CommittedPosition {
  /** Null: nothing is committed. */
  readonly offset: bigint | null
  readonly metadata: string
}

/** By `tpKey`. */
export type CommittedPositions = ReadonlyMap<string, CommittedPosition>

/**
 * The committed offsets, with everything that a finished transaction committed: asked again while one that is under way
 * holds them unstable. One that stays open until the deadline has committed nothing: then they are as they were before it.
 * @throws RelayError as fetchCommitted reports
 */
export async function committedPositions(
  cluster: Cluster,
  group: string,
  partitions: readonly TopicPartition[],
  deadline: Deadline,
): Promise<CommittedPositions> {
  for (let requireStable = true; ; ) {
    const question = { group, partitions, requireStable }
    const answers = await fetchCommitted(cluster, question, deadlineIn(cluster.clock, askMs))
    const failed = answers.find((answer) => 'error' in answer)
    if (failed) throw failed.error
    if (!answers.some((answer) => 'unstable' in answer)) return new Map(answers.flatMap(positionOf))
    if (deadline.remainingMs() <= pauseMs) requireStable = false
    else await cluster.clock.sleep(pauseMs)
  }
}

function positionOf(answer: CommittedAnswer): [string, CommittedPosition][] {
  return 'offset' in answer ? [[tpKey(answer), { offset: answer.offset, metadata: answer.metadata }]] : []
}

/**
 * Waits until readers can see everything below `ends`: a commit is answered before its markers are written. Answers the
 * last stable offsets, still below where an open transaction holds readers back when the deadline comes.
 */
export async function untilStable(
  cluster: Cluster,
  partitions: readonly TopicPartition[],
  ends: Offsets,
  deadline: Deadline,
): Promise<Offsets> {
  for (;;) {
    const stable = await offsetsAt(cluster, partitions, 'latest', 'read_committed')
    const isBehind = [...ends].some(([key, end]) => (stable.get(key) ?? end) < end)
    if (!isBehind || deadline.remainingMs() <= pauseMs) return stable
    await cluster.clock.sleep(pauseMs)
  }
}
