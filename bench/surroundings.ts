import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemRandom } from '../lib/clock.ts'
import { ensureFenceTable } from '../lib/fencing/ensure-fence-store.ts'
import type { Cluster } from '../lib/kafka/cluster.ts'
import { createCluster } from '../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../lib/kafka/kafkajs-transport.ts'
import { startDynamoDb } from '../lib/local/dynamodb.ts'
import { startKafka } from '../lib/local/kafka.ts'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { nodeDataDir } from '../lib/local/kafka-storage.ts'

const fenceTable = 'fencepost-fences'

/** As a broker runs in production, small: the quick flags of the local stack would leave it half compiled. */
const jvmFlags = ['-XX:+UseSerialGC']
const heapMb = 1024

export interface Surroundings {
  readonly brokers: readonly string[]
  /** Of this process: fills sources and checks outputs. */
  readonly cluster: Cluster
  /** What every subject needs in its environment to find Kafka and the fence table. */
  readonly env: Readonly<Record<string, string>>
  /** Holds logs and data; deleted at the end. */
  readonly dir: string
  /** The one broker's process, port and log directory, to be measured from outside. */
  readonly broker: BrokerProcess
  stop(): Promise<void>
}

export interface BrokerProcess {
  readonly pid: number
  readonly port: number
  readonly dataDir: string
}

/** A broker and a fence table of its own for one benchmark; nothing is left of them. @throws RelayError LOCAL_STACK */
export async function startSurroundings(
  version: KafkaVersion,
  signal: AbortSignal,
  config: Readonly<Record<string, string>> = {},
): Promise<Surroundings> {
  const undo: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const dir = await mkdtemp(join(tmpdir(), 'fencepost-bench-'))
    undo.push(() => rm(dir, { recursive: true, force: true }))
    const dynamoDb = await startDynamoDb()
    undo.push(dynamoDb.stop)
    await ensureFenceTable({ table: fenceTable, ...dynamoDb })
    const dataDir = join(dir, 'kafka')
    const kafka = await startKafka({ version, dataDir, jvmFlags, heapMb, config, signal })
    undo.push(kafka.stop)
    const { brokers } = kafka
    const cluster = createCluster(createKafkaTransport({ clientId: 'bench', brokers }), systemClock, systemRandom)
    undo.push(() => cluster.close())
    const env = {
      FENCEPOST_BROKERS: brokers.join(','),
      FENCEPOST_TABLE: fenceTable,
      FENCEPOST_TABLE_ENDPOINT: dynamoDb.endpoint,
      AWS_REGION: dynamoDb.region,
      AWS_ACCESS_KEY_ID: dynamoDb.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: dynamoDb.credentials.secretAccessKey,
    }
    const [node] = kafka.nodes
    const broker = { pid: node?.pid ?? 0, port: node?.port ?? 0, dataDir: nodeDataDir(dataDir, node?.id ?? 0) }
    return { brokers, cluster, env, dir, broker, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
