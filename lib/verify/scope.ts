import { type Clock, type Deadline, deadlineIn } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { TopicMetadata } from '../kafka/cluster.ts'
import type { TopicPartition } from '../kafka/record.ts'
import { type LaneId, lanesOf } from '../relay/lane-id.ts'
import { seconds } from '../units.ts'
import type { VerifyOptions } from './options.ts'

/** What belongs to a relay. */
export interface Scope {
  readonly clusterId: string
  readonly group: string
  readonly lanes: readonly LaneId[]
  /** Of the source; index equals partition. */
  readonly sources: readonly Place[]
  /** Of all output topics, dead letters included. */
  readonly outputs: readonly Place[]
  /** Per topic. */
  readonly partitionCounts: ReadonlyMap<string, number>
}

export interface Place extends TopicPartition {
  readonly topicId: string
}

/** Bound of each question to the cluster. */
export const askDeadline = (clock: Clock): Deadline => deadlineIn(clock, seconds(30))

/** @throws RelayError TOPIC_MISSING, BROKER_UNAVAILABLE */
export async function scopeOf({ relay, prefix, cluster }: VerifyOptions): Promise<Scope> {
  const deadline = askDeadline(cluster.clock)
  const outputNames = [...new Set(relay.outputTopics)]
  const topics = await cluster.topics([relay.sourceTopic, ...outputNames], deadline, 'fresh')
  const placesOf = (name: string): Place[] => {
    const { topicId, partitions } = topicNamed(topics, name)
    return partitions.map(({ partition }) => ({ topic: name, topicId, partition }))
  }
  const sources = placesOf(relay.sourceTopic)
  const naming = { prefix, relay: relay.name, topic: relay.sourceTopic, partitionsPerLane: relay.partitionsPerLane }
  const lanes = lanesOf(sources.keys(), sources.length, naming)
  return {
    clusterId: await cluster.clusterId(deadline),
    group: lanes[0]?.group ?? '',
    lanes,
    sources,
    outputs: outputNames.flatMap(placesOf),
    partitionCounts: new Map([...topics.values()].map(({ name, partitions }) => [name, partitions.length])),
  }
}

/** That owns a partition of the source. */
export const laneAt = ({ lanes }: Scope, { partition }: Place): LaneId | undefined =>
  lanes.find(({ partitions }) => partitions.includes(partition))

function topicNamed(topics: ReadonlyMap<string, TopicMetadata>, name: string): TopicMetadata {
  const topic = topics.get(name)
  if (topic?.partitions.length) return topic
  throw new RelayError('TOPIC_MISSING', `topic '${name}' does not exist, or may not be described by this user`)
}
