import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelNode, StaleView } from './node.ts'
import type { ModelPartition } from './topics.ts'

/** In which capacity a node answers for a partition. */
export type Serving =
  | { readonly as: 'leader'; readonly partition: ModelPartition }
  /** It was the leader and has not heard that it is no more: reads only. */
  | { readonly as: 'ex-leader'; readonly partition: ModelPartition; readonly view: StaleView }
  | { readonly as: 'none'; readonly code: number; readonly partition?: ModelPartition }

export function serving(model: ClusterModel, node: ModelNode, topic: string, index: number): Serving {
  const partition = model.topics.partition(topic, index)
  if (partition === undefined) return { as: 'none', code: codes.UNKNOWN_TOPIC_OR_PARTITION }
  if (partition.leader === node.id) return { as: 'leader', partition }
  const view = node.viewOf(partition)
  if (view !== undefined) return { as: 'ex-leader', partition, view }
  return { as: 'none', code: codes.NOT_LEADER_OR_FOLLOWER, partition }
}

/** Code for `current_leader_epoch` of a request; -1 asks for no check (KIP-320). */
export function checkLeaderEpoch(asked: number | undefined, known: number): number {
  if (asked === undefined || asked === -1 || asked === known) return codes.NONE
  return asked < known ? codes.FENCED_LEADER_EPOCH : codes.UNKNOWN_LEADER_EPOCH
}

/** Code unless the node leads the partition that coordinates the key. */
export function checkCoordinator(node: ModelNode, { leader }: ModelPartition): number {
  return leader === node.id ? codes.NONE : codes.NOT_COORDINATOR
}

/** Where to go instead, as newer brokers say in their refusals (KIP-951). */
export function leaderHint(serving: Serving): { readonly leaderId: number; readonly leaderEpoch: number } {
  const { partition } = serving
  if (serving.as === 'leader' || partition === undefined) return { leaderId: -1, leaderEpoch: -1 }
  return { leaderId: partition.leader ?? -1, leaderEpoch: partition.leaderEpoch }
}

/** Code for what only the leader does. */
export const refusal = (served: Serving): number => (served.as === 'none' ? served.code : codes.NOT_LEADER_OR_FOLLOWER)
