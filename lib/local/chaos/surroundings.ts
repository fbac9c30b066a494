import { type Clock, type Random, systemClock, systemRandom } from '../../clock.ts'
import { createDynamoDbFenceStore } from '../../fencing/dynamodb-fence-store.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { createCluster } from '../../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../kafka/kafkajs-transport.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { type BrokerProxy, startBrokerProxy } from '../broker-proxy.ts'
import { type HttpFaults, startHttpFaults } from '../http-faults.ts'
import type { KafkaVersion } from '../kafka-jars.ts'
import type { KafkaNode } from '../kafka-node.ts'
import { type Stack, startStack } from '../stack.ts'
import { createTopics } from '../topics.ts'
import numberedRelay from './numbered-relay.ts'

export interface SurroundingsOptions {
  /** Data, logs and the lock are kept under it; what an earlier run left there is deleted. */
  readonly dir: string
  readonly kafka: KafkaVersion
  /** Decides which faults come when, and whom they hit as far as that is chosen. */
  readonly seed: number
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  say(line: string): void
}

/** What stands around a relay: three brokers and a fence table, each behind a proxy that faults harm. */
export interface Surroundings {
  readonly dir: string
  readonly stack: Stack
  /** Harmed by faults that kill and pause brokers. */
  readonly nodes: readonly KafkaNode[]
  /** One before each node, in their order: the relay's only way to the brokers. */
  readonly proxies: readonly BrokerProxy[]
  /** `host:port` of the proxies. */
  readonly proxiedBrokers: readonly string[]
  /** The relay's only way to the fence table. */
  readonly table: HttpFaults
  /** The fence table past its proxy. */
  readonly fences: FenceStore
  readonly clock: Clock
  readonly random: Random
  /** A client past the proxies, closed at the end. */
  connect(clientId: string): Cluster
  stop(): Promise<void>
}

export const prefix = 'chaos'
export const relay = numberedRelay
export const partitions = 4
const nodeCount = 3

/** @throws RelayError LOCAL_STACK when it cannot start or another run uses `dir`; then nothing is left running. */
export async function startSurroundings(options: SurroundingsOptions): Promise<Surroundings> {
  const { dir, kafka, seed, signal, say } = options
  const undo: (() => unknown)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    say(`starting ${nodeCount} brokers of Kafka ${kafka} and DynamoDB, each behind a proxy`)
    const proxies = await Promise.all(Array.from({ length: nodeCount }, () => startBrokerProxy()))
    undo.push(() => Promise.all(proxies.map((proxy) => proxy.stop())))
    const proxyPorts = proxies.map(({ port }) => port)
    const stack = await startStack({ dir, kafka, nodes: nodeCount, proxyPorts, fresh: true, signal, log: say })
    undo.push(stack.stop)
    const nodes = stack.kafka?.nodes ?? []
    for (const [index, { detourPort }] of nodes.entries()) if (detourPort) proxies[index]?.forwardTo(detourPort)
    const table = await startHttpFaults(stack.dynamoDb.endpoint)
    undo.push(table.stop)
    const fences = createDynamoDbFenceStore({ table: stack.fenceTable, ...stack.dynamoDb }, systemClock)
    undo.push(() => fences.close())
    const connect = (clientId: string): Cluster => {
      const transport = createKafkaTransport({ clientId, brokers: stack.brokers })
      const cluster = createCluster(transport, systemClock, systemRandom)
      undo.push(() => cluster.close())
      return cluster
    }
    await createTopics(connect('chaos-admin'), topics)
    signal.throwIfAborted()
    return {
      dir,
      stack,
      nodes,
      proxies,
      proxiedBrokers: proxyPorts.map((port) => `127.0.0.1:${port}`),
      table,
      fences,
      clock: systemClock,
      random: seededRandom(seed),
      connect,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Dead letters are not expected: one partition. */
const topics: ReadonlyMap<string, number> = new Map([
  [relay.sourceTopic, partitions],
  ...relay.outputTopics.map((name) => [name, name === relay.deadLetters ? 1 : partitions] as const),
])
