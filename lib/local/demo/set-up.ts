import { systemClock, systemRandom } from '../../clock.ts'
import { createDynamoDbFenceStore } from '../../fencing/dynamodb-fence-store.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { createCluster } from '../../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../kafka/kafkajs-transport.ts'
import type { KafkaVersion } from '../kafka-jars.ts'
import { type Stack, startStack } from '../stack.ts'
import { createTopics } from '../topics.ts'
import { type Flights, readFlights } from './flights.ts'
import { type Deployment, deployFlightRelay, relay, sourcePartitions } from './relay-deployment.ts'

export interface SetUpOptions {
  /** Data, logs and the lock are kept under it; what an earlier demo left there is deleted. */
  readonly dir: string
  readonly kafka: KafkaVersion
  /** Flights to relay. */
  readonly records: number
  /** A finished bundle of the relay, `index.mjs`. Default: it is bundled from its source. */
  readonly bundleDir?: string
  /** Aborted by Ctrl-C: the demo stops whatever it does. */
  readonly signal: AbortSignal
  say(line: string): void
}

/** Everything that the demo stands on, ready. */
export interface SetUp {
  readonly stack: Stack
  readonly deployment: Deployment
  readonly flights: Flights
  readonly fences: FenceStore
  /** A client of its own, closed at the end. */
  connect(clientId: string): Cluster
  stop(): Promise<void>
}

const outputPartitions = 4

/** @throws RelayError LOCAL_STACK when it cannot start or another demo runs in `dir`; then nothing is left running. */
export async function setUp(options: SetUpOptions): Promise<SetUp> {
  const { dir, kafka, signal, say } = options
  const undo: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    say(`starting Kafka ${kafka}, DynamoDB and S3`)
    const stack = await startStack({ dir, kafka, fresh: true, signal, log: say })
    undo.push(stack.stop)
    say(`Kafka serves at ${stack.brokers.join(',')}, DynamoDB at ${stack.dynamoDb.endpoint}`)
    const connect = (clientId: string): Cluster => {
      const cluster = createCluster(
        createKafkaTransport({ clientId, brokers: stack.brokers }),
        systemClock,
        systemRandom,
      )
      undo.push(() => cluster.close())
      return cluster
    }
    await createTopics(connect('demo-admin'), topics())
    say('bundling the relay and starting its functions')
    const deployment = await deployFlightRelay(stack, options, sourcePartitions)
    undo.push(() => deployment.host.stop())
    say(`reading ${options.records.toLocaleString('en')} flights of the United States from npm's vega-datasets`)
    const flights = await readFlights(options.records)
    signal.throwIfAborted()
    const fences = createDynamoDbFenceStore({ table: stack.fenceTable, ...stack.dynamoDb }, systemClock)
    undo.push(async () => fences.close())
    return { stack, deployment, flights, fences, connect, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Dead letters are few: one partition. */
function topics(): ReadonlyMap<string, number> {
  const outputs = relay.outputTopics.map((name) => [name, name === relay.deadLetters ? 1 : outputPartitions] as const)
  return new Map([[relay.sourceTopic, sourcePartitions], ...outputs])
}
