/** One relay on a real broker with a real fence table, as many cold containers of it as a test wants, and its topics. */
import { onTestFinished } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { createDynamoDbFenceStore } from '../../lib/fencing/dynamodb-fence-store.ts'
import { ensureFenceTable } from '../../lib/fencing/ensure-fence-store.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import type { Relay } from '../../lib/index.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import type { KafkaVersion } from '../../lib/local/kafka-jars.ts'
import { type LaneId, laneOf } from '../../lib/relay/lane-id.ts'
import type { EngineSettings, RelayRuntime } from '../../lib/relay/runtime.ts'
import { type ContainerOptions, type ContainerPlace, type Names, startContainer } from './containers.ts'
import { clusterAt } from './kafka-client.ts'
import { readCommitted } from './read-committed.ts'
import { dynamoDbEndpoint, freshName, kafkaBrokers } from './stack.ts'
import { createTopic, type TopicOptions } from './topics.ts'
import { appendRecords } from './writing.ts'

export { copyRelay, type Names } from './containers.ts'

export interface WorldOptions {
  /** Of the shared broker. Default 4.1. */
  readonly version?: KafkaVersion
  /** Brokers of the test's own instead. */
  readonly brokers?: readonly string[]
  readonly source?: TopicOptions
  readonly output?: TopicOptions
  readonly define?: (names: Names) => Relay
  readonly settings?: Partial<EngineSettings>
}

export interface RelayWorld extends ContainerPlace {
  /** The test's own connections, beside those of the containers. */
  readonly cluster: Cluster
  container(over?: ContainerOptions): Promise<RelayRuntime>
  lane(partition?: number): LaneId
  /** Appends records, each with a value of its own, and answers the values. */
  produce(count: number, partition?: number): Promise<string[]>
  /** What a read_committed reader sees of the output, partition after partition. */
  delivered(): Promise<string[]>
  /** The same of the dead letters. */
  buried(): Promise<string[]>
}

export const fenceTableName = 'fencepost-relays'

/** A fence table; all tests share one, their prefixes tell them apart. `endpoint`: a detour to it. */
export async function fenceTable({ table = fenceTableName, endpoint = '' } = {}): Promise<FenceStore> {
  const direct = await dynamoDbEndpoint()
  await ensureFenceTable({ table, ...direct })
  const detour = endpoint === '' ? {} : { endpoint }
  const store = createDynamoDbFenceStore({ table, ...direct, ...detour, requestTimeoutMs: 500 }, systemClock)
  onTestFinished(() => store.close())
  return store
}

export async function relayWorld(options: WorldOptions = {}): Promise<RelayWorld> {
  const brokers = options.brokers ?? (await kafkaBrokers(options.version ?? '4.1'))
  const source = await createTopic(brokers, 'source', options.source)
  const output = await createTopic(brokers, 'output', options.output)
  const names = { source, output, dead: await createTopic(brokers, 'dead') }
  const [fences, prefix, cluster] = [await fenceTable(), freshName('t'), closedAfterTest(clusterAt(brokers))]
  let produced = 0
  return {
    brokers,
    names,
    prefix,
    fences,
    cluster,
    async container(over = {}) {
      const place = { brokers, names, prefix, fences }
      const runtime = await startContainer(place, { ...options, ...over })
      closedAfterTest(runtime.cluster)
      return runtime
    },
    lane: (partition = 0) => {
      const naming = { prefix, relay: 'copy', topic: source, partitionsPerLane: 1 }
      return laneOf(partition, partition + 1, naming)
    },
    async produce(count, partition = 0) {
      const values = Array.from({ length: count }, () => `v${produced++}`)
      const records = values.map((value) => ({ value: Buffer.from(value) }))
      await appendRecords(cluster, { topic: source, partition }, records)
      return values
    },
    delivered: () => readCommitted(cluster, output, options.output?.partitions ?? 1),
    buried: () => readCommitted(cluster, names.dead, 1),
  }
}

function closedAfterTest(cluster: Cluster): Cluster {
  onTestFinished(() => cluster.close())
  return cluster
}
