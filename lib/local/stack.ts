import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { deadlineIn, systemClock, systemRandom } from '../clock.ts'
import { ensureFenceTable } from '../fencing/ensure-fence-store.ts'
import { createCluster } from '../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../kafka/kafkajs-transport.ts'
import type { AwsEmulator } from './aws-endpoint.ts'
import { startDynamoDb } from './dynamodb.ts'
import { type KafkaHandle, startKafka } from './kafka.ts'
import type { KafkaVersion } from './kafka-jars.ts'
import { lockFile } from './lock-file.ts'
import { type S3Emulator, startS3 } from './s3.ts'

export interface StackPorts {
  readonly kafka?: number
  readonly dynamoDb?: number
  readonly s3?: number
}

export interface StackOptions {
  /** Data, logs and the lock are kept under it. One stack runs in it at a time. */
  readonly dir: string
  readonly kafka: KafkaVersion
  /** Brokers of our own. Default 1. */
  readonly nodes?: 1 | 3
  /** Of proxies, one per broker of our own; see KafkaOptions. */
  readonly proxyPorts?: readonly number[]
  /** `host:port`: a cluster that exists instead of a broker of our own. */
  readonly brokers?: readonly string[]
  /** Deletes what earlier runs left. */
  readonly fresh?: boolean
  /** Default: free ones. */
  readonly ports?: StackPorts
  /** Gives up a start that is under way; everything is stopped. */
  readonly signal?: AbortSignal
  readonly log?: (line: string) => void
}

export interface Stack {
  readonly brokers: readonly string[]
  /** null: the cluster existed. */
  readonly kafka: KafkaHandle | null
  readonly dynamoDb: AwsEmulator
  readonly s3: S3Emulator
  readonly fenceTable: string
  readonly bucket: string
  readonly dataDir: string
  readonly logDir: string
  stop(): Promise<void>
}

const fenceTable = 'fencepost-fences'
const bucket = 'fencepost-snapshots'
const firstAnswerMs = 30_000

/**
 * Kafka, DynamoDB with the fence table, and S3 on this machine, ready for a first transaction. Data outlives the stack;
 * each Kafka version has its own, and so has an existing cluster: positions of one mean nothing to another.
 *
 * @throws RelayError LOCAL_STACK when another stack runs in `dir`, a port is taken, or Java or Maven is missing;
 * BROKER_UNAVAILABLE when `brokers` do not answer.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dir = resolve(options.dir)
  const dataDir = join(dir, 'data', options.brokers ? 'existing-cluster' : options.kafka)
  const logDir = join(dir, 'logs')
  const undo: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const lock = await lockFile(join(dir, 'lock'), `The local stack in ${dir}`, 'Stop that one first.')
    undo.push(lock.release)
    if (options.fresh) await wipe(dataDir, logDir)
    const dynamoDb = await startDynamoDb({ dataDir: join(dataDir, 'dynamodb'), ...port(options.ports?.dynamoDb) })
    undo.push(dynamoDb.stop)
    const s3 = await startS3({ dataDir: join(dataDir, 's3'), buckets: [bucket], ...port(options.ports?.s3) })
    undo.push(s3.stop)
    const kafka = options.brokers ? null : await ownKafka(options, dataDir, logDir)
    if (kafka) undo.push(kafka.stop)
    const brokers = options.brokers ?? kafka?.brokers ?? []
    await ensureFenceTable({ table: fenceTable, ...dynamoDb })
    await untilTransactional(brokers)
    options.signal?.throwIfAborted()
    return { brokers, kafka, dynamoDb, s3, fenceTable, bucket, dataDir, logDir, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const port = (chosen: number | undefined): { port?: number } => (chosen === undefined ? {} : { port: chosen })

async function wipe(...dirs: readonly string[]): Promise<void> {
  for (const dir of dirs) await rm(dir, { recursive: true, force: true })
}

function ownKafka(options: StackOptions, dataDir: string, logDir: string): Promise<KafkaHandle> {
  const { kafka: version, nodes, ports, proxyPorts, signal, log } = options
  return startKafka({
    version,
    dataDir: join(dataDir, 'kafka'),
    logDir,
    ...(nodes ? { nodes } : {}),
    ...(ports?.kafka === undefined ? {} : { ports: [ports.kafka] }),
    ...(proxyPorts ? { proxyPorts } : {}),
    ...(signal ? { signal } : {}),
    ...(log ? { log } : {}),
  })
}

/** Makes the broker create its internal topics now, not in the first window. */
async function untilTransactional(brokers: readonly string[]): Promise<void> {
  const transport = createKafkaTransport({ clientId: 'fencepost-local', brokers })
  const cluster = createCluster(transport, systemClock, systemRandom)
  const deadline = deadlineIn(systemClock, firstAnswerMs)
  try {
    await cluster.locate({ to: 'transaction-coordinator', key: 'fencepost' }, deadline)
    await cluster.locate({ to: 'group-coordinator', key: 'fencepost' }, deadline)
  } finally {
    await cluster.close()
  }
}
