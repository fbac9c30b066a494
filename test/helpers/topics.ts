import type { Cluster } from '../../lib/kafka/cluster.ts'
import { listOffsets } from '../../lib/kafka/offsets.ts'
import { clusterAt, within } from './kafka-client.ts'
import { freshName } from './stack.ts'

export interface TopicOptions {
  /** Default 1. */
  readonly partitions?: number
  readonly replicationFactor?: number
  /** Topic configuration, for example `max.message.bytes`. */
  readonly config?: Readonly<Record<string, string>>
}

/** Makes a topic with a name of its own and waits for its leaders. Answers the name. */
export async function createTopic(
  brokers: readonly string[],
  prefix: string,
  options: TopicOptions = {},
): Promise<string> {
  const topic = freshName(prefix)
  const cluster = clusterAt(brokers)
  try {
    await createTopicNamed(cluster, topic, options)
  } finally {
    await cluster.close()
  }
  return topic
}

/** The same for a given name, in a cluster that stays open. */
export async function createTopicNamed(cluster: Cluster, name: string, options: TopicOptions = {}): Promise<void> {
  const { partitions: numPartitions = 1, replicationFactor = -1, config = {} } = options
  const configs = Object.entries(config).map(([key, value]) => ({ name: key, value }))
  const topic = { name, numPartitions, replicationFactor, assignments: [], configs }
  const { body } = await cluster.request(
    { to: 'any' },
    'CreateTopics',
    { topics: [topic], timeoutMs: 10_000 },
    within(10_000),
  )
  const [created] = body.topics
  if (created?.errorCode !== 0) throw new Error(`CreateTopics answered ${created?.errorCode} for ${name}`)
  await untilLed(cluster, name, numPartitions)
}

/** The controller answers before the brokers have heard of the topic, and those know the leaders before these lead. */
async function untilLed(cluster: Cluster, name: string, partitions: number): Promise<void> {
  const deadline = within(20_000)
  for (; deadline.remainingMs() > 0; await cluster.clock.sleep(20)) {
    const known = (await cluster.topics([name], deadline, 'fresh')).get(name)?.partitions ?? []
    if (known.length === partitions && known.every(({ leader }) => leader !== null)) break
  }
  const asks = Array.from({ length: partitions }, (_, partition) => ({ topic: name, partition }))
  const answers = await listOffsets(cluster, asks, { at: 'latest', isolation: 'read_committed' }, deadline)
  if (!answers.every((answer) => 'offset' in answer)) throw new Error(`${name} has no leaders after 20 s`)
}
