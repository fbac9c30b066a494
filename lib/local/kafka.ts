import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import { isRelayError, RelayError } from '../errors.ts'
import { findJava } from './java.ts'
import { type KafkaNodePlan, logFlags, quickJvmFlags } from './kafka-config.ts'
import { type KafkaVersion, kafkaClassPath } from './kafka-jars.ts'
import { type KafkaNode, LocalKafkaNode } from './kafka-node.ts'
import { clusterIdOf, nodeDataDir, prepareStorage, propertiesFile } from './kafka-storage.ts'
import { type Lock, lockFile } from './lock-file.ts'
import { freePorts, portIsFree } from './ports.ts'

export interface KafkaOptions {
  readonly version: KafkaVersion
  /** Three make a cluster with replication factor 3 and 2 in-sync replicas required. Default 1. */
  readonly nodes?: 1 | 3
  /** Kept over restarts; formatted when empty. */
  readonly dataDir: string
  /** Default `<dataDir>/logs`. */
  readonly logDir?: string
  /** One per node. Default: free ones, chosen anew at each start. */
  readonly ports?: readonly number[]
  /** Ports of proxies, one per node: whoever comes in through one meets every broker through its proxy (`detourPort`). */
  readonly proxyPorts?: readonly number[]
  /** Broker properties on top of ours, to the letter. */
  readonly config?: Readonly<Record<string, string>>
  /** Per node. Default 512. */
  readonly heapMb?: number
  /** Instead of the flags that make a broker start quickly and stay small. */
  readonly jvmFlags?: readonly string[]
  /** Where fetched jars are kept. Default `.fencepost/kafka` in the working directory. */
  readonly cacheDir?: string
  readonly env?: NodeJS.ProcessEnv
  readonly clock?: Clock
  /** Gives up a start that is under way: what was started is stopped, and the start rejects with the signal's reason. */
  readonly signal?: AbortSignal
  readonly log?: (line: string) => void
}

export interface KafkaHandle {
  readonly version: KafkaVersion
  readonly clusterId: string
  /** `host:port` of each node. */
  readonly brokers: readonly string[]
  readonly nodes: readonly KafkaNode[]
  /** SIGTERM, a bounded wait, SIGKILL. Data stays. */
  stop(): Promise<void>
}

const portTriesMax = 5

/**
 * Starts a real Kafka cluster (KRaft, combined nodes) on 127.0.0.1 and resolves when every node serves and sees all
 * others. The brokers die with this process, whatever it dies of. Topics are never created by accident, and transaction
 * partition verification stays on.
 *
 * @throws RelayError LOCAL_STACK: no Java 17, no Maven, port taken, or the end of the broker's log.
 * @example
 * const kafka = await startKafka({ version: '4.1', dataDir: '.fencepost/my-test' })
 * await kafka.nodes[0]?.kill('SIGKILL')
 * await kafka.nodes[0]?.restart()
 * await kafka.stop()
 */
export async function startKafka(options: KafkaOptions): Promise<KafkaHandle> {
  const java = await findJava(options.env)
  const classPath = await kafkaClassPath(options)
  const lock = await lockFile(
    resolve(options.dataDir, 'lock'),
    `Kafka's data in ${options.dataDir}`,
    'Stop that process or choose another data directory.',
  )
  try {
    const nodes = await launch(options, java, classPath)
    return handleOf(options.version, await clusterIdOf(options.dataDir), nodes, lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Another process may take a port between our choice and the broker's bind: then everything is planned anew. */
async function launch(options: KafkaOptions, java: string, classPath: string): Promise<readonly LocalKafkaNode[]> {
  for (let tries = 1; ; tries++) {
    const plans = await planNodes(options)
    await mkdir(logDirOf(options), { recursive: true })
    await prepareStorage(plans, { ...options, java, classPath })
    const nodes = plans.map((plan) => nodeOf(plan, options, java, classPath))
    try {
      await startNodes(nodes, options.signal)
      return nodes
    } catch (error) {
      await stopNodes(nodes)
      const lostRace = isRelayError(error) && error.context.portTaken === true
      if (!lostRace || tries === portTriesMax) throw error
    }
  }
}

async function planNodes(options: KafkaOptions): Promise<readonly KafkaNodePlan[]> {
  const count = options.nodes ?? 1
  if (options.ports && options.ports.length !== count) {
    throw new RelayError('LOCAL_STACK', `${options.ports.length} Kafka ports given for ${count} nodes; give one each.`)
  }
  for (const port of options.ports ?? []) await requirePort(port)
  const free = (await freePorts(4 * count)).filter((port) => !options.ports?.includes(port))
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    port: options.ports?.[index] ?? Number(free[count + index]),
    controllerPort: Number(free[index]),
    ...detourOf(options.proxyPorts?.[index], Number(free[2 * count + index])),
    dataDir: nodeDataDir(options.dataDir, index + 1),
  }))
}

const detourOf = (proxyPort: number | undefined, port: number) =>
  proxyPort === undefined ? {} : { detour: { port, proxyPort } }

async function requirePort(port: number): Promise<void> {
  if (await portIsFree(port)) return
  throw new RelayError(
    'LOCAL_STACK',
    `Port ${port} on 127.0.0.1 is taken, and Kafka should listen there; stop what listens (lsof -i :${port}) or choose another port.`,
    { context: { port } },
  )
}

const logDirOf = (options: KafkaOptions): string => resolve(options.logDir ?? join(options.dataDir, 'logs'))

function nodeOf(plan: KafkaNodePlan, options: KafkaOptions, java: string, classPath: string): LocalKafkaNode {
  const flags = [`-Xmx${options.heapMb ?? 512}m`, ...(options.jvmFlags ?? quickJvmFlags), ...logFlags]
  const args = [...flags, '-cp', classPath, 'kafka.Kafka', propertiesFile(plan)]
  return new LocalKafkaNode(
    plan,
    join(logDirOf(options), `kafka-${plan.id}.log`),
    java,
    args,
    options.clock ?? systemClock,
  )
}

async function startNodes(nodes: readonly LocalKafkaNode[], signal?: AbortSignal): Promise<void> {
  const ids = nodes.map(({ id }) => id)
  await Promise.all(nodes.map((node) => node.launch()))
  await Promise.all(nodes.map((node) => node.untilServing(ids, signal)))
}

const stopNodes = async (nodes: readonly LocalKafkaNode[]): Promise<void> => {
  await Promise.all(nodes.map((node) => node.stop()))
}

function handleOf(version: KafkaVersion, clusterId: string, nodes: readonly LocalKafkaNode[], lock: Lock): KafkaHandle {
  return {
    version,
    clusterId,
    brokers: nodes.map(({ port }) => `127.0.0.1:${port}`),
    nodes,
    stop: async () => {
      await stopNodes(nodes)
      await lock.release()
    },
  }
}
