/** How a broker of the local stack is configured. Nothing here switches off what the product relies on. */
export interface KafkaNodePlan {
  /** From 1. */
  readonly id: number
  readonly port: number
  readonly controllerPort: number
  /** A second way in, through a proxy. */
  readonly detour?: KafkaDetour
  /** Absolute. */
  readonly dataDir: string
}

/** Clients that come in by a detour are told that each broker is where its proxy is. Brokers never use it among themselves. */
export interface KafkaDetour {
  /** Where the broker listens for what the proxy passes on. */
  readonly port: number
  /** Where the proxy listens. */
  readonly proxyPort: number
}

const host = '127.0.0.1'

/**
 * A killed broker may come back only when its last session has ended (9 s by default). A single one has nobody to fail
 * over to; in a cluster a busy machine must not look like a dead broker.
 */
const sessionTimeoutMs = (nodes: number): string => (nodes === 1 ? '2000' : '6000')

/**
 * `server.properties` of one combined broker and controller. Internal topics have 4 partitions, which makes start and
 * first use quick; a cluster of three keeps three copies, of which two must acknowledge.
 */
export function kafkaProperties(
  node: KafkaNodePlan,
  nodes: readonly KafkaNodePlan[],
  overrides: Readonly<Record<string, string>> = {},
): string {
  const replicas = String(nodes.length)
  const inSyncMin = String(Math.max(1, nodes.length - 1))
  const properties: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': String(node.id),
    'controller.quorum.voters': nodes.map(({ id, controllerPort }) => `${id}@${host}:${controllerPort}`).join(','),
    'controller.listener.names': 'CONTROLLER',
    ...listeners(node),
    'log.dirs': node.dataDir,
    'auto.create.topics.enable': 'false',
    'default.replication.factor': replicas,
    'min.insync.replicas': inSyncMin,
    'offsets.topic.num.partitions': '4',
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.num.partitions': '4',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSyncMin,
    'broker.session.timeout.ms': sessionTimeoutMs(nodes.length),
    'broker.heartbeat.interval.ms': '500',
    'group.initial.rebalance.delay.ms': '0',
    'log.cleaner.dedupe.buffer.size': String(16 * 1024 * 1024),
    ...overrides,
  }
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

function listeners({ port, controllerPort, detour }: KafkaNodePlan): Record<string, string> {
  const own = `PLAINTEXT://${host}:${port}`
  const ways = [own, `CONTROLLER://${host}:${controllerPort}`, ...(detour ? [`DETOUR://${host}:${detour.port}`] : [])]
  const told = [own, ...(detour ? [`DETOUR://${host}:${detour.proxyPort}`] : [])]
  const protocols = ['PLAINTEXT:PLAINTEXT', 'CONTROLLER:PLAINTEXT', ...(detour ? ['DETOUR:PLAINTEXT'] : [])]
  return {
    listeners: ways.join(','),
    'advertised.listeners': told.join(','),
    'listener.security.protocol.map': protocols.join(','),
  }
}

/** Quick to start and small: for development and tests. A benchmark replaces them. */
export const quickJvmFlags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const

/** The broker logs to stderr, without the listing of its whole configuration. */
export const logFlags = [
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
  '-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config.AbstractConfig=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaConfig=warn',
] as const
