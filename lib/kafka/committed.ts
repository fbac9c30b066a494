import { type Deadline, sooner } from '../clock.ts'
import { isRelayError, type RelayError } from '../errors.ts'
import type { Cluster, Target } from './cluster.ts'
import type { OffsetFetchRequest, OffsetFetchResponse } from './protocol/generated/offset-fetch.ts'
import { leftOut, silenceOf, troubleOf } from './read-errors.ts'
import type { TopicPartition } from './record.ts'
import { inRounds, type Told } from './rounds.ts'
import type { NodeAddress } from './transport.ts'

export interface CommittedQuestion {
  readonly group: string
  readonly partitions: readonly TopicPartition[]
  /** True: an offset that an open transaction is about to change is answered as unstable instead of as it was. */
  readonly requireStable: boolean
  /** The broker that must answer (step 9); otherwise the group's coordinator, looked up again when it moved. */
  readonly node?: NodeAddress
}

export interface Committed extends TopicPartition {
  /** The next offset to read; null only when the broker answered "none" without any error. */
  readonly offset: bigint | null
  readonly metadata: string
  readonly leaderEpoch: number
}

/** An open transaction holds a pending offset for the partition (88, only with `requireStable`). Not asked again here. */
export interface Unstable extends TopicPartition {
  readonly unstable: true
}

export interface NotTold extends TopicPartition {
  readonly error: RelayError
}

export type CommittedAnswer = Committed | Unstable | NotTold

type CommittedTold = Told<TopicPartition, Committed | Unstable>

const attemptTimeoutMs = 5000
const unstableCode = 88

/**
 * What a group has committed, in the order of the question's partitions. Each answer is all or nothing: an error of the
 * group or the partition is never mistaken for "nothing committed".
 *
 * A paused ex-coordinator answers old offsets without an error (P1): whoever opens a lane needs step 9 as well.
 * Errors of a partition: BROKER_UNAVAILABLE, AUTHENTICATION_FAILED, NOT_AUTHORIZED, TOPIC_MISSING, BROKER_ERROR.
 */
export async function fetchCommitted(
  cluster: Cluster,
  question: CommittedQuestion,
  deadline: Deadline,
): Promise<CommittedAnswer[]> {
  const { partitions } = question
  const round = (open: readonly TopicPartition[]) => ask(cluster, question, open, deadline)
  const results = await inRounds(cluster.clock, partitions, round, deadline)
  return partitions.map((place) => asAnswer(place, results.get(place)))
}

async function ask(
  cluster: Cluster,
  question: CommittedQuestion,
  partitions: readonly TopicPartition[],
  deadline: Deadline,
): Promise<CommittedTold[]> {
  const { group, node } = question
  const target: Target = node === undefined ? { to: 'group-coordinator', key: group } : { to: 'node', node }
  const told = await transmit(cluster, target, question, partitions, sooner(cluster.clock, deadline, attemptTimeoutMs))
  if (node !== undefined) return told.map((each) => ({ ...each, again: false }))
  if (told.some(({ again }) => again)) cluster.forget(target)
  return told
}

async function transmit(
  cluster: Cluster,
  target: Target,
  question: CommittedQuestion,
  partitions: readonly TopicPartition[],
  attempt: Deadline,
): Promise<CommittedTold[]> {
  try {
    const { body } = await cluster.request(target, 'OffsetFetch', requestOf(question, partitions), attempt)
    return partitions.map((place) => hear(place, question.group, body))
  } catch (error) {
    const silence = silenceOf('OffsetFetch', error)
    return partitions.map((place) => ({ ask: place, ...silence }))
  }
}

function requestOf(
  { group, requireStable }: CommittedQuestion,
  partitions: readonly TopicPartition[],
): OffsetFetchRequest {
  const byTopic = Map.groupBy(partitions, ({ topic }) => topic)
  const topics = [...byTopic].map(([name, members]) => ({
    name,
    partitionIndexes: members.map(({ partition }) => partition),
  }))
  return { groups: [{ groupId: group, topics }], requireStable }
}

function hear(place: TopicPartition, group: string, { groups }: OffsetFetchResponse): CommittedTold {
  const { topic, partition } = place
  const answer = groups.find(({ groupId }) => groupId === group)
  const partitions = answer?.topics.find(({ name }) => name === topic)?.partitions
  const found = partitions?.find(({ partitionIndex }) => partitionIndex === partition)
  const code = answer?.errorCode || (found?.errorCode ?? 0)
  if (code === unstableCode) return { ask: place, again: false, result: { topic, partition, unstable: true } }
  if (code !== 0) return { ask: place, ...troubleOf('OffsetFetch', place, code, { group }) }
  if (found === undefined) return { ask: place, again: true, result: leftOut('OffsetFetch', place) }
  const { committedOffset, committedLeaderEpoch: leaderEpoch, metadata } = found
  const offset = committedOffset < 0n ? null : committedOffset
  return { ask: place, again: false, result: { topic, partition, offset, leaderEpoch, metadata: metadata ?? '' } }
}

function asAnswer(place: TopicPartition, result: Committed | Unstable | RelayError | undefined): CommittedAnswer {
  if (result !== undefined && !isRelayError(result)) return result
  const { topic, partition } = place
  return { topic, partition, error: result ?? leftOut('OffsetFetch', place) }
}
