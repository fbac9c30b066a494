import { type Deadline, sooner } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { describeTopicConfigs } from '../kafka/topic-configs.ts'
import { refuseIfAny } from '../problems.ts'
import { type LaneId, lanesOf } from './lane-id.ts'
import type { RelayDeployment, RelayRuntime } from './runtime.ts'
import { topicProblems, topicRules } from './topic-rules.ts'

/** Kafka's default for `max.message.bytes`: assumed where the topic's settings may not be read. */
const batchBytesMaxDefault = 1_048_588

/** The topics of a relay as the cluster has them now. */
export interface RelayTopics {
  readonly clusterId: string
  readonly sourceTopicId: string
  readonly sourcePartitions: number
  /** topic -> partition count, for every output and the dead letters. */
  readonly outputPartitions: ReadonlyMap<string, number>
}

/** @throws RelayError TOPIC_MISSING naming every missing topic, BROKER_UNAVAILABLE */
export async function relayTopics(
  deployment: RelayDeployment,
  deadline: Deadline,
  fresh?: 'fresh',
): Promise<RelayTopics> {
  const { relay, cluster } = deployment
  const names = [...new Set([relay.sourceTopic, ...relay.outputTopics])]
  const found = await cluster.topics(names, deadline, fresh)
  const missing = names.filter((name) => !found.get(name)?.partitions.length)
  if (missing.length > 0 && fresh) throw topicsMissing(missing)
  if (missing.length > 0) return relayTopics(deployment, deadline, 'fresh')
  const source = found.get(relay.sourceTopic)
  if (!source) throw topicsMissing([relay.sourceTopic])
  return {
    clusterId: await cluster.clusterId(deadline),
    sourceTopicId: source.topicId,
    sourcePartitions: source.partitions.length,
    outputPartitions: new Map(relay.outputTopics.map((name) => [name, found.get(name)?.partitions.length ?? 0])),
  }
}

/** Brokers that are silent for longer are left to the next ring. */
const currentWithinMs = 5_000

/**
 * Metadata is believed for a minute, and offsets go with their topic: a position that Kafka does not have may be one of a
 * log that is no more. So it is committed only to the topic that is there now.
 * @throws RelayError BROKER_UNAVAILABLE; BROKER_ERROR: the next ring knows the new topic, and reconciles or starts with it
 */
export async function assertSourceIsCurrent(
  { relay, cluster }: RelayDeployment,
  { sourceTopicId }: RelayTopics,
  deadline: Deadline,
): Promise<void> {
  const soon = sooner(cluster.clock, deadline, currentWithinMs)
  const now = (await cluster.topics([relay.sourceTopic], soon, 'fresh')).get(relay.sourceTopic)?.topicId
  if (now === sourceTopicId) return
  const message = `source '${relay.sourceTopic}' had the id ${sourceTopicId}, now ${now ?? 'there is none'}: made anew? The next ring finds out`
  throw new RelayError('BROKER_ERROR', message, { context: { topic: relay.sourceTopic } })
}

/** The lanes that have any of these partitions; without them, all lanes of the relay. */
export function lanesAt(
  { relay, settings }: RelayDeployment,
  { sourcePartitions }: RelayTopics,
  partitions: Iterable<number> = Array(sourcePartitions).keys(),
): LaneId[] {
  const { name, sourceTopic: topic, partitionsPerLane } = relay
  return lanesOf(partitions, sourcePartitions, { prefix: settings.prefix, relay: name, topic, partitionsPerLane })
}

function topicsMissing(names: readonly string[]): RelayError {
  const list = names.map((name) => `'${name}'`).join(', ')
  const are = names.length === 1 ? `topic ${list} does not exist` : `topics ${list} do not exist`
  return new RelayError('TOPIC_MISSING', `${are} (or may not be described by this user); create before relaying`, {
    context: { topics: names },
  })
}

/**
 * Learns once per container how large a batch each output topic accepts, and refuses topics that cannot keep the promise:
 * the short form of `fencepost preflight`, in the one request that is asked anyway. A cluster of single copies is one for
 * development; settings that the broker does not tell are left to preflight.
 * @throws RelayError TOPIC_INVALID naming every such setting
 */
export async function learnTopicSettings(runtime: RelayRuntime, deadline: Deadline): Promise<void> {
  const { relay, cluster, batchBytesMax } = runtime
  if (relay.outputTopics.every((topic) => batchBytesMax.has(topic))) return
  const names = [...new Set([relay.sourceTopic, ...relay.outputTopics])]
  const configs = await describeTopicConfigs(cluster, names, settingsAsked, deadline)
  await refuseUnfit(runtime, names, configs, deadline)
  for (const topic of relay.outputTopics) {
    const configured = Number(configs.get(topic)?.get(batchBytes))
    batchBytesMax.set(topic, configured > 0 ? configured : batchBytesMaxDefault)
  }
}

const batchBytes = 'max.message.bytes'
const settingsAsked = [batchBytes, ...topicRules.map(({ setting }) => setting)]

async function refuseUnfit(
  { relay, cluster, settings }: RelayRuntime,
  names: readonly string[],
  configs: ReadonlyMap<string, ReadonlyMap<string, string>>,
  deadline: Deadline,
): Promise<void> {
  const { acceptWeakTopics } = settings
  if (acceptWeakTopics === undefined) return
  const known = await cluster.topics(names, deadline)
  const problems = names.flatMap((name) => {
    const copies = Math.min(...(known.get(name)?.partitions.map(({ replicas }) => replicas.length) ?? []))
    const topic = { name, copies, roles: new Set(name === relay.deadLetters ? (['dead letters'] as const) : []) }
    return topicProblems(topic, configs.get(name) ?? new Map(), acceptWeakTopics || copies === 1)
  })
  refuseIfAny(`relay '${relay.name}'`, problems, 'TOPIC_INVALID')
}
