import { type Clock, type Deadline, systemClock } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { type KafkaConnectionConfig, nodeKey, parseAddress } from './connection-config.ts'
import { kafkaErrorName } from './errors.ts'
import { NodeConnection } from './node-connection.ts'
import { openSecured } from './open-secured.ts'
import type { Api, ResponseOf } from './protocol/generated/index.ts'
import { fixedSecurity, type SecuritySource } from './security.ts'
import {
  type BrokerCapabilities,
  type NodeAddress,
  type Transport,
  TransportError,
  type WireRequest,
} from './transport.ts'

const CONNECT_TIMEOUT_MS = 5_000
const IDLE_MAX_MS = 60_000
const API_VERSIONS = 3

/** Requests that may wait in the broker, for records or for other members: kept away from all others. */
const waiting: Partial<Record<Api, string>> = { Fetch: 'fetch', JoinGroup: 'group', SyncGroup: 'group' }

/**
 * The network: kafkajs connects and authenticates, the rest is ours (see connect.ts for why).
 *
 * A broker works on one request of a connection at a time, so Fetch has a connection of its own beside the one for all
 * else. Both are opened when first used; each keeps the order of the calls.
 *
 * @throws RelayError CONFIG_INVALID for an address that is not host:port, or no address.
 */
export function createKafkaTransport(config: KafkaConnectionConfig, clock: Clock = systemClock): Transport {
  return new KafkajsTransport(config, clock)
}

class KafkajsTransport implements Transport {
  readonly bootstrap: readonly NodeAddress[]
  readonly #config: KafkaConnectionConfig
  readonly #clock: Clock
  readonly #security: SecuritySource
  readonly #connections = new Map<string, NodeConnection>()
  #closed = false

  constructor(config: KafkaConnectionConfig, clock: Clock) {
    this.#config = config
    this.#clock = clock
    this.#security = config.security ?? fixedSecurity(config)
    this.bootstrap = config.brokers.map(parseAddress)
    if (this.bootstrap.length === 0)
      throw new RelayError('CONFIG_INVALID', 'no broker address: give at least one host:port')
  }

  async send<A extends Api>(request: WireRequest<A>): Promise<ResponseOf<A>> {
    return this.#connectionFor(request.node, request.api).send(request)
  }

  async capabilities(node: NodeAddress, deadline: Deadline): Promise<BrokerCapabilities> {
    const body = { clientSoftwareName: 'fencepost', clientSoftwareVersion: '1' }
    const answer = await this.send({ node, api: 'ApiVersions', version: API_VERSIONS, body, deadline })
    if (answer.errorCode !== 0)
      throw new TransportError(
        node,
        'closed',
        true,
        `${nodeKey(node)}: ${kafkaErrorName(answer.errorCode)} to ApiVersions`,
      )
    return {
      apis: new Map(
        answer.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]),
      ),
      features: new Map(answer.finalizedFeatures.map(({ name, maxVersionLevel }) => [name, maxVersionLevel])),
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const connection of this.#connections.values()) connection.close()
    this.#connections.clear()
  }

  #connectionFor(node: NodeAddress, api: Api): NodeConnection {
    if (this.#closed) throw new TransportError(node, 'closed', false, `${nodeKey(node)}: the transport is closed`)
    const key = `${nodeKey(node)}/${waiting[api] ?? 'main'}`
    const current = this.#connections.get(key)
    if (current?.isFit()) return current
    current?.retire()
    const next = this.#open(node, current?.drained)
    this.#connections.set(key, next)
    return next
  }

  #open(node: NodeAddress, after: Promise<void> | undefined): NodeConnection {
    const { clientId, idleMaxMs = IDLE_MAX_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#config
    const source = this.#security
    const open = () => openSecured({ clientId, source, connectTimeoutMs }, node)
    return new NodeConnection({ node, clientId, clock: this.#clock, idleMaxMs, open }, after)
  }
}
