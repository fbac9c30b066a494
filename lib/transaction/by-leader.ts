import { type Deadline, sooner } from '../clock.ts'
import { isRelayError } from '../errors.ts'
import type { Cluster, Target } from '../kafka/cluster.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import type { Sending } from './exchange.ts'

export const leaderOf = ({ topic, partition }: TopicPartition): Target => ({ to: 'leader', topic, partition })

/** What goes to one broker in one request. */
export interface Group<P> {
  readonly target: Target
  readonly parts: readonly P[]
}

/** A partition without a known leader stands alone: its request finds out, or fails and is tried again. */
export async function byLeader<P extends TopicPartition>(
  { cluster, attemptTimeoutMs }: Sending,
  parts: readonly P[],
  deadline: Deadline,
): Promise<Group<P>[]> {
  const soon = sooner(cluster.clock, deadline, attemptTimeoutMs)
  const places = await Promise.all(parts.map(async (part) => ({ part, target: await leaderNode(cluster, part, soon) })))
  const groups = Map.groupBy(places, ({ part, target }) => (target.to === 'node' ? target.node.nodeId : tpKey(part)))
  return [...groups.values()].flatMap(([first, ...others]) =>
    first ? [{ target: first.target, parts: [first, ...others].map(({ part }) => part) }] : [],
  )
}

/** @throws RelayError TOPIC_MISSING, AUTHENTICATION_FAILED */
async function leaderNode(cluster: Cluster, part: TopicPartition, deadline: Deadline): Promise<Target> {
  try {
    return { to: 'node', node: await cluster.locate(leaderOf(part), deadline) }
  } catch (error) {
    if (isRelayError(error) && error.code !== 'BROKER_UNAVAILABLE') throw error
    return leaderOf(part)
  }
}
