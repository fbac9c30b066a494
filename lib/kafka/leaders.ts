import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Cluster, TopicMetadata } from './cluster.ts'
import type { Trouble } from './read-errors.ts'
import { type TopicPartition, tpKey } from './record.ts'
import type { Told } from './rounds.ts'
import type { NodeAddress } from './transport.ts'

/** A partition, and the topic that it must belong to when the caller knows its id. */
export interface LeaderAsk extends TopicPartition {
  readonly topicId?: string
}

export interface Placed<Ask> {
  readonly ask: Ask
  readonly node: NodeAddress
  readonly leaderEpoch: number
}

/** Each ask either has a leader or a reason why not. */
export interface Placement<Ask> {
  readonly placed: readonly Placed<Ask>[]
  readonly lost: readonly Told<Ask, never>[]
}

/** A missing or replaced topic is believed after this many looks, each at another broker than the one before. */
const looksNeeded = 3

/**
 * Finds the leaders; from the second round on from fresh metadata.
 * @throws RelayError BROKER_UNAVAILABLE, AUTHENTICATION_FAILED when nobody can be asked
 */
export async function placeOnLeaders<Ask extends LeaderAsk>(
  cluster: Cluster,
  asks: readonly Ask[],
  round: number,
  deadline: Deadline,
): Promise<Placement<Ask>> {
  const names = [...new Set(asks.map(({ topic }) => topic))]
  const topics = await cluster.topics(names, deadline, round > 0 ? 'fresh' : undefined)
  const placed: Placed<Ask>[] = []
  const lost: Told<Ask, never>[] = []
  for (const ask of asks) {
    const place = leaderOf(ask, topics.get(ask.topic), round + 1 < looksNeeded)
    if ('node' in place) placed.push({ ask, ...place })
    else lost.push({ ask, ...place })
  }
  return { placed, lost }
}

/** The next question about these partitions begins with fresh metadata, whoever asks it. */
export function doubtLeaders(cluster: Cluster, told: readonly Told<LeaderAsk, unknown>[]): void {
  for (const { ask, again } of told) {
    if (again) cluster.forget({ to: 'leader', topic: ask.topic, partition: ask.partition })
  }
}

function leaderOf(
  ask: LeaderAsk,
  topic: TopicMetadata | undefined,
  again: boolean,
): Pick<Placed<never>, 'node' | 'leaderEpoch'> | Trouble {
  const context = { ...ask }
  if (topic === undefined) {
    const message = `topic ${ask.topic} does not exist: create it, or correct its name`
    return { again, result: new RelayError('TOPIC_MISSING', message, { context }) }
  }
  if (ask.topicId !== undefined && topic.topicId !== ask.topicId) {
    const message = `topic ${ask.topic} has the id ${topic.topicId}, wanted ${ask.topicId}: it was deleted and made again`
    return {
      again,
      result: new RelayError('SOURCE_REPLACED', message, { context: { ...context, found: topic.topicId } }),
    }
  }
  const partition = topic.partitions[ask.partition]
  if (partition === undefined) {
    const message = `${tpKey(ask)} does not exist, the topic has ${topic.partitions.length} partitions`
    return { again, result: new RelayError('TOPIC_MISSING', message, { context }) }
  }
  if (partition.leader !== null) return { node: partition.leader, leaderEpoch: partition.leaderEpoch }
  const message = `${tpKey(ask)} has no leader: its replicas ${partition.replicas.join(', ')} are down`
  return { again: true, result: new RelayError('BROKER_UNAVAILABLE', message, { context }) }
}
