import type { Deadline } from '../../clock.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { fetchCommitted } from '../../kafka/committed.ts'
import type { CompiledRelay } from '../../relay/compiled-relay.ts'
import { lanesOf, topicPartitions } from '../../relay/lane-id.ts'
import type { LaneLineage, TopicFacts } from './facts.ts'

/** Committed offsets and fence records, lane by lane. @throws RelayError of the fence store, BROKER_UNAVAILABLE */
export async function readLineages(
  cluster: Cluster,
  fences: FenceStore,
  prefix: string,
  relays: readonly CompiledRelay[],
  topics: readonly TopicFacts[],
  deadline: Deadline,
): Promise<readonly LaneLineage[]> {
  const read = relays.map((relay) => ofRelay(cluster, fences, prefix, relay, topics, deadline))
  return (await Promise.all(read)).flat()
}

async function ofRelay(
  cluster: Cluster,
  fences: FenceStore,
  prefix: string,
  { name: relay, sourceTopic: topic, partitionsPerLane }: CompiledRelay,
  topics: readonly TopicFacts[],
  deadline: Deadline,
): Promise<readonly LaneLineage[]> {
  const state = topics.find(({ name }) => name === topic)?.state
  const count = state?.told ? (state.value?.partitions ?? 0) : 0
  const lanes = lanesOf(Array(count).keys(), count, { prefix, relay, topic, partitionsPerLane })
  const [first] = lanes
  if (first === undefined) return []
  const partitions = lanes.flatMap(topicPartitions)
  const [committed, { records }] = await Promise.all([
    fetchCommitted(cluster, { group: first.group, partitions, requireStable: false }, deadline),
    fences.list(`${prefix}.${relay}.`, deadline),
  ])
  return lanes.map((id) => ({
    id,
    committed: committed.filter(({ partition }) => id.partitions.includes(partition)),
    record: records.find((record) => record.id === id.transactionalId) ?? null,
  }))
}
