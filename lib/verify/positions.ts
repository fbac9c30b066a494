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
export const greatest = (one: bigint, other: bigint): bigint => (one < other ? other : one)

const pauseFirstMs = 5
const pauseMaxMs = 50
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
 * The committed offsets, with everything that a finished transaction committed: where one that is under way holds an offset
 * unstable, it is asked for again, each partition for itself, since a busy lane is unstable half the time. One that stays
 * open until the deadline has committed nothing: then the offset is as it was before it.
 * @throws RelayError as fetchCommitted reports
 */
export async function committedPositions(
  cluster: Cluster,
  group: string,
  partitions: readonly TopicPartition[],
  deadline: Deadline,
): Promise<CommittedPositions> {
  const found = new Map<string, CommittedPosition>()
  let open = partitions
  for (let round = 0; open.length > 0; round++) {
    const pauseMs = Math.min(pauseMaxMs, pauseFirstMs * 2 ** round)
    const question = { group, partitions: open, requireStable: deadline.remainingMs() > pauseMs }
    const answers = await fetchCommitted(cluster, question, deadlineIn(cluster.clock, askMs))
    for (const answer of answers) noteAnswer(found, answer)
    open = open.filter((partition) => !found.has(tpKey(partition)))
    if (open.length > 0) await cluster.clock.sleep(pauseMs)
  }
  return found
}

function noteAnswer(found: Map<string, CommittedPosition>, answer: CommittedAnswer): void {
  if ('error' in answer) throw answer.error
  if ('offset' in answer) found.set(tpKey(answer), { offset: answer.offset, metadata: answer.metadata })
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
    if (!isBehind || deadline.remainingMs() <= pauseMaxMs) return stable
    await cluster.clock.sleep(pauseMaxMs)
  }
}
