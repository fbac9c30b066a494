import { type Deadline, sooner } from '../clock.ts'
import { isRelayError, type RelayError } from '../errors.ts'
import type { Cluster } from './cluster.ts'
import type { Isolation } from './fetch.ts'
import { doubtLeaders, type LeaderAsk, type Placed, placeOnLeaders } from './leaders.ts'
import type { ListOffsetsRequest, ListOffsetsResponse } from './protocol/generated/list-offsets.ts'
import { leftOut, silenceOf, troubleOf } from './read-errors.ts'
import type { TopicPartition } from './record.ts'
import { inRounds, type Told } from './rounds.ts'

export { type CommittedAnswer, type CommittedQuestion, fetchCommitted } from './committed.ts'

export interface ListOffsetsQuestion {
  /** The log's start, its end as the isolation sees it, or the first record at or after a time (ms since the epoch). */
  readonly at: 'earliest' | 'latest' | number
  /** read_committed: 'latest' is the last stable offset; read_uncommitted: the high watermark. */
  readonly isolation: Isolation
}

export interface FoundOffset extends TopicPartition {
  /** -1n when no record is at or after the time asked for. */
  readonly offset: bigint
  /** Of the record found by time; -1 otherwise. */
  readonly timestampMs: number
  readonly leaderEpoch: number
}

/** A partition that could not be asked, or whose broker refused. */
export interface NoOffset extends TopicPartition {
  readonly error: RelayError
}

export type OffsetAnswer = FoundOffset | NoOffset

type OffsetTold = Told<LeaderAsk, FoundOffset>

const attemptTimeoutMs = 5000
const specialTimes = { earliest: -2n, latest: -1n } as const

/**
 * Asks the leaders for offsets, with the leader epoch of the metadata, so that an ex-leader refuses instead of
 * answering what it remembers (P7). One request per leader, in parallel; leadership changes are followed within the
 * deadline; answers in the order of the asks. With `topicId` a topic recreated under the name is SOURCE_REPLACED.
 *
 * Errors of a partition: SOURCE_REPLACED, TOPIC_MISSING, NOT_AUTHORIZED, BROKER_UNAVAILABLE, BROKER_ERROR.
 * @throws RelayError BROKER_UNAVAILABLE, AUTHENTICATION_FAILED when no broker can be asked for metadata
 */
export async function listOffsets(
  cluster: Cluster,
  asks: readonly LeaderAsk[],
  question: ListOffsetsQuestion,
  deadline: Deadline,
): Promise<OffsetAnswer[]> {
  const round = async (open: readonly LeaderAsk[], number: number): Promise<OffsetTold[]> => {
    const { placed, lost } = await placeOnLeaders(cluster, open, number, deadline)
    const leaders = Map.groupBy(placed, ({ node }) => node.nodeId)
    const told = await Promise.all([...leaders.values()].map((group) => askLeader(cluster, group, question, deadline)))
    doubtLeaders(cluster, told.flat())
    return [...lost, ...told.flat()]
  }
  const results = await inRounds(cluster.clock, asks, round, deadline)
  return asks.map((ask) => asAnswer(ask, results.get(ask)))
}

async function askLeader(
  cluster: Cluster,
  placed: readonly Placed<LeaderAsk>[],
  question: ListOffsetsQuestion,
  deadline: Deadline,
): Promise<OffsetTold[]> {
  const [first] = placed
  if (first === undefined) return []
  const attempt = sooner(cluster.clock, deadline, attemptTimeoutMs)
  try {
    const target = { to: 'node', node: first.node } as const
    const { body } = await cluster.request(target, 'ListOffsets', requestOf(placed, question), attempt)
    return placed.map(({ ask }) => hear(ask, body))
  } catch (error) {
    const silence = silenceOf('ListOffsets', error)
    return placed.map(({ ask }) => ({ ask, ...silence }))
  }
}

function requestOf(placed: readonly Placed<LeaderAsk>[], { at, isolation }: ListOffsetsQuestion): ListOffsetsRequest {
  const timestamp = typeof at === 'number' ? BigInt(at) : specialTimes[at]
  const byTopic = Map.groupBy(placed, ({ ask }) => ask.topic)
  return {
    replicaId: -1,
    isolationLevel: isolation === 'read_committed' ? 1 : 0,
    topics: [...byTopic].map(([name, members]) => ({
      name,
      partitions: members.map(({ ask, leaderEpoch }) => ({
        partitionIndex: ask.partition,
        currentLeaderEpoch: leaderEpoch,
        timestamp,
      })),
    })),
  }
}

function hear(ask: LeaderAsk, { topics }: ListOffsetsResponse): OffsetTold {
  const { topic, partition } = ask
  const partitions = topics.find(({ name }) => name === topic)?.partitions
  const found = partitions?.find(({ partitionIndex }) => partitionIndex === partition)
  if (found === undefined) return { ask, again: true, result: leftOut('ListOffsets', ask) }
  if (found.errorCode !== 0) return { ask, ...troubleOf('ListOffsets', ask, found.errorCode) }
  const { offset, leaderEpoch, timestamp } = found
  return { ask, again: false, result: { topic, partition, offset, leaderEpoch, timestampMs: Number(timestamp) } }
}

function asAnswer({ topic, partition }: LeaderAsk, result: FoundOffset | RelayError | undefined): OffsetAnswer {
  if (result !== undefined && !isRelayError(result)) return result
  return { topic, partition, error: result ?? leftOut('ListOffsets', { topic, partition }) }
}
