import type { Deadline } from '../../clock.ts'
import type { Api, RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import {
  type BrokerCapabilities,
  type NodeAddress,
  type Transport,
  TransportError,
  type WireRequest,
} from '../../kafka/transport.ts'
import { answer, capabilitiesOf, versionsOf } from './broker.ts'
import type { ClusterModel } from './cluster-model.ts'
import type { ModelNode } from './node.ts'

/**
 * What becomes of a request on its way in, or of its answer on the way out. To delay it, resolve later.
 * - `pass`: nothing happens to it.
 * - `cut`: it is lost and the connection with it; the client is told at once, of all requests that wait on it.
 * - `lose`: it is lost in silence; the client waits until its deadline.
 * - `{ late }`: the client sees a cut, yet the request arrives when `late` resolves (a copy left in the network).
 */
export type Fate = 'pass' | 'cut' | 'lose' | { readonly late: Promise<void> }

export interface Exchange {
  readonly node: NodeAddress
  readonly api: Api
  readonly version: number
  readonly body: RequestOf<Api>
}

/** Faults between one client and the brokers. A fate belongs to one request; `late` makes no sense for an answer. */
export interface Faults {
  beforeRequest?(exchange: Exchange): Fate | Promise<Fate>
  /** The broker has acted; its answer is about to leave. */
  afterEffect?(exchange: Exchange, response: ResponseOf<Api>): Exclude<Fate, object> | Promise<Exclude<Fate, object>>
}

const never = (): Promise<never> => new Promise(() => {})

/**
 * One client's connections to a `ClusterModel`, one per node. As over a real connection, a broker works on one request
 * at a time and answers in order, and a missed deadline ends the connection while the broker may still act.
 */
export class ModelTransport implements Transport {
  private readonly model: ClusterModel
  private readonly faults: Faults
  private readonly connections = new Map<number, ModelConnection>()

  constructor(model: ClusterModel, faults: Faults = {}) {
    this.model = model
    this.faults = faults
  }

  get bootstrap(): readonly NodeAddress[] {
    return this.model.addresses()
  }

  async send<A extends Api>(request: WireRequest<A>): Promise<ResponseOf<A>> {
    const { api, version, deadline } = request
    const node = this.nodeAt(request.node)
    const range = versionsOf(this.model, api)
    if (range === null || version < range.min || version > range.max) {
      const spoken = range === null ? 'not at all' : `only ${range.min} to ${range.max}`
      throw new TransportError(request.node, 'closed', true, `${api} ${version} is not spoken here, ${spoken}`)
    }
    const connection = this.connectionTo(node)
    const sent = onTheWire(request)
    return await this.beforeDeadline(connection, deadline, () => this.exchange(connection, node, sent))
  }

  async capabilities(address: NodeAddress, deadline: Deadline): Promise<BrokerCapabilities> {
    const node = this.nodeAt(address)
    const connection = this.connectionTo(node)
    return await this.beforeDeadline(connection, deadline, async () => {
      await node.running()
      return capabilitiesOf(this.model)
    })
  }

  /** Breaks every connection, as the end of the client's process does. */
  async close(): Promise<void> {
    for (const connection of this.connections.values()) connection.cut('the client closed it')
    this.connections.clear()
  }

  private async exchange<A extends Api>(
    connection: ModelConnection,
    node: ModelNode,
    request: WireRequest<A>,
  ): Promise<ResponseOf<A>> {
    const fate = (await this.faults.beforeRequest?.(request)) ?? 'pass'
    if (typeof fate === 'object') connection.cut('the network broke')
    if (typeof fate === 'object') await fate.late
    if (fate === 'cut') connection.cut('the network broke')
    if (fate === 'cut' || fate === 'lose') return await never()
    await node.running()
    if (!node.isUp) return await never()
    const response = await answer(this.model, node, request.api, request.version, request.body)
    const end = (await this.faults.afterEffect?.(request, response)) ?? 'pass'
    if (end === 'cut') connection.cut('the network broke')
    const isUnanswered = request.api === 'Produce' && 'acks' in request.body && request.body.acks === 0
    return end === 'pass' && !isUnanswered ? response : await never()
  }

  /** The work in its turn on the connection; a missed deadline closes the connection and leaves the work alone. */
  private async beforeDeadline<T>(connection: ModelConnection, deadline: Deadline, work: () => Promise<T>): Promise<T> {
    const timer = new AbortController()
    const { clock } = this.model
    const miss = () => connection.cut('no answer before the deadline', 'timeout')
    clock.sleep(deadline.remainingMs(), timer.signal).then(miss, () => {})
    try {
      return await connection.enqueue(work)
    } finally {
      timer.abort()
    }
  }

  private nodeAt(address: NodeAddress): ModelNode {
    const node = this.model.nodes.find(
      ({ address: known }) => known.host === address.host && known.port === address.port,
    )
    if (node?.isUp) return node
    throw new TransportError(address, 'connect', false, `nothing listens at ${address.host}:${address.port}`)
  }

  private connectionTo(node: ModelNode): ModelConnection {
    const known = this.connections.get(node.id)
    if (known?.isOpen) return known
    const connection = new ModelConnection(node)
    this.connections.set(node.id, connection)
    return connection
  }
}

/** What was sent does not change any more, whatever its sender writes into its buffers afterwards. */
function onTheWire<A extends Api>(request: WireRequest<A>): WireRequest<A> {
  if (!('topicData' in request.body)) return request
  const topicData = request.body.topicData.map((topic) => ({
    ...topic,
    partitionData: topic.partitionData.map((part) => ({ ...part, records: part.records && Buffer.from(part.records) })),
  }))
  return { ...request, body: { ...request.body, topicData } }
}

/** A queue of requests of which the broker works on the first. */
class ModelConnection {
  isOpen = true
  private readonly node: ModelNode
  private readonly broken = Promise.withResolvers<never>()
  private readonly unsubscribe: () => void
  private turn: Promise<unknown> = Promise.resolve()

  constructor(node: ModelNode) {
    this.node = node
    this.unsubscribe = node.onStop(() => this.cut('the broker died'))
    this.broken.promise.catch(() => {})
  }

  /** Requests whose turn has not come when the connection breaks never reach the broker. */
  enqueue<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.turn.then(() => (this.isOpen ? work() : never()))
    this.turn = mine.catch(() => {})
    return Promise.race([mine, this.broken.promise])
  }

  cut(why: string, reason: TransportError['reason'] = 'closed'): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.unsubscribe()
    const { host, port } = this.node.address
    this.broken.reject(
      new TransportError(this.node.address, reason, true, `connection to ${host}:${port} ended: ${why}`),
    )
  }
}
