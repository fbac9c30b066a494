import type { Clock, Deadline, Random } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { BrokerClient } from './broker-client.ts'
import { BrokerList } from './broker-list.ts'
import type { Answer, Cluster, Target, TopicMetadata } from './cluster.ts'
import { CoordinatorCache } from './coordinator-cache.ts'
import { MetadataCache } from './metadata-cache.ts'
import { pause } from './pause.ts'
import type { Api, RequestOf } from './protocol/generated/index.ts'
import { type NodeAddress, type Transport, TransportError } from './transport.ts'
import type { VersionBounds } from './versions.ts'

type LeaderTarget = Extract<Target, { readonly to: 'leader' }>

/** The cluster behind a transport; what it promises is written at `Cluster`. */
export function createCluster(transport: Transport, clock: Clock, random: Random): Cluster {
  return new KafkaCluster(transport, clock, random)
}

class KafkaCluster implements Cluster {
  readonly clock: Clock
  readonly #random: Random
  readonly #transport: Transport
  readonly #brokers: BrokerList
  readonly #client: BrokerClient
  readonly #metadata: MetadataCache
  readonly #coordinators: CoordinatorCache
  /** Topics whose leaders turned out to be wrong: looked up anew when next asked for. */
  readonly #doubted = new Set<string>()

  constructor(transport: Transport, clock: Clock, random: Random) {
    this.clock = clock
    this.#random = random
    this.#transport = transport
    this.#brokers = new BrokerList(transport.bootstrap, random)
    this.#client = new BrokerClient(transport, this.#brokers, clock)
    this.#coordinators = new CoordinatorCache(this.#client, clock, random)
    this.#metadata = new MetadataCache(this.#client, this.#brokers, clock, () => this.#coordinators.clear())
  }

  async clusterId(deadline: Deadline): Promise<string> {
    return this.#metadata.clusterId(deadline)
  }

  async brokers(deadline: Deadline): Promise<readonly NodeAddress[]> {
    await this.#metadata.clusterId(deadline)
    return this.#brokers.known
  }

  async transactionVersion(deadline: Deadline): Promise<1 | 2> {
    const { features } = await this.#client.tryEach('ApiVersions', deadline, undefined, (node, soon) =>
      this.#client.capabilities(node, soon),
    )
    return (features.get('transaction.version') ?? 0) >= 2 ? 2 : 1
  }

  async topics(
    names: readonly string[],
    deadline: Deadline,
    fresh?: 'fresh',
  ): Promise<ReadonlyMap<string, TopicMetadata>> {
    const doubted = names.filter((name) => this.#doubted.delete(name))
    try {
      return await this.#metadata.topics(names, deadline, fresh ?? (doubted.length > 0 ? 'fresh' : undefined))
    } catch (error) {
      for (const name of doubted) this.#doubted.add(name)
      throw error
    }
  }

  async request<A extends Api>(
    target: Target,
    api: A,
    body: RequestOf<A>,
    deadline: Deadline,
    options: VersionBounds = {},
  ): Promise<Answer<A>> {
    const node = await this.locate(target, deadline)
    try {
      return await this.#client.send(node, api, body, deadline, options)
    } catch (error) {
      if (error instanceof TransportError) this.forget(target)
      throw error
    }
  }

  async locate(target: Target, deadline: Deadline): Promise<NodeAddress> {
    switch (target.to) {
      case 'node':
        return target.node
      case 'any':
        return this.#anyBroker(deadline)
      case 'leader':
        return this.#leader(target, deadline)
      default:
        return this.#coordinators.locate(target, deadline)
    }
  }

  forget(target: Target): void {
    if (target.to === 'leader') this.#doubted.add(target.topic)
    if (target.to === 'transaction-coordinator' || target.to === 'group-coordinator') this.#coordinators.forget(target)
  }

  async close(): Promise<void> {
    await this.#transport.close()
  }

  /** Rather one that answered when last asked: the caller's only transmission should not be lost on a dead address. */
  async #anyBroker(deadline: Deadline): Promise<NodeAddress> {
    await this.#metadata.clusterId(deadline)
    const [node] = this.#brokers.candidates()
    if (node === undefined) throw new RelayError('BROKER_UNAVAILABLE', 'no broker is known')
    return node
  }

  /** Asks again while the partition has no leader, within the deadline. */
  async #leader(target: LeaderTarget, deadline: Deadline): Promise<NodeAddress> {
    const { topic, partition } = target
    for (let fresh: 'fresh' | undefined; ; fresh = 'fresh') {
      const metadata = (await this.topics([topic], deadline, fresh)).get(topic)?.partitions[partition]
      if (metadata === undefined && fresh) throw missing(target)
      if (metadata?.leader) return metadata.leader
      if (fresh) await pause(this.clock, this.#random, deadline, leaderless(target))
    }
  }
}

const missing = ({ topic, partition }: LeaderTarget): RelayError =>
  new RelayError('TOPIC_MISSING', `topic "${topic}" has no partition ${partition}, or does not exist`, {
    context: { topic, partition },
  })

const leaderless = ({ topic, partition }: LeaderTarget): RelayError =>
  new RelayError('BROKER_UNAVAILABLE', `partition ${partition} of topic "${topic}" has no leader`, {
    context: { topic, partition },
  })
