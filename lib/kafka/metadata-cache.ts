import type { Clock, Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { BrokerClient } from './broker-client.ts'
import type { BrokerList } from './broker-list.ts'
import type { PartitionMetadata, TopicMetadata } from './cluster.ts'
import { classify, kafkaErrorName } from './errors.ts'
import { denied } from './missing-acl.ts'
import type { ResponseOf } from './protocol/generated/index.ts'
import type { NodeAddress } from './transport.ts'

const FRESH_MS = 60_000
const CLUSTER_ID_UNKNOWN = 'the broker does not tell a cluster id'

type TopicAnswer = ResponseOf<'Metadata'>['topics'][number]
type PartitionAnswer = TopicAnswer['partitions'][number]

/** Topics, brokers and the cluster's id, as brokers last told them; believed for a minute. */
export class MetadataCache {
  readonly #client: BrokerClient
  readonly #brokers: BrokerList
  readonly #clock: Clock
  readonly #onOtherCluster: () => void
  readonly #topics = new Map<string, { readonly metadata: TopicMetadata; readonly atMs: number }>()
  /** Questions that are under way, by topic. */
  readonly #asking = new Map<string, { readonly answered: Promise<void>; readonly deadline: Deadline }>()
  #cluster: { readonly id: string; readonly atMs: number } | undefined
  #answeredBy: NodeAddress | undefined

  /** `onOtherCluster`: the addresses lead to another cluster than before. */
  constructor(client: BrokerClient, brokers: BrokerList, clock: Clock, onOtherCluster: () => void) {
    this.#client = client
    this.#brokers = brokers
    this.#clock = clock
    this.#onOtherCluster = onOtherCluster
  }

  async clusterId(deadline: Deadline): Promise<string> {
    if (this.#cluster === undefined || this.#isOld(this.#cluster.atMs)) await this.#ask([], deadline, undefined)
    if (this.#cluster === undefined) throw new RelayError('BROKER_ERROR', CLUSTER_ID_UNKNOWN)
    return this.#cluster.id
  }

  async topics(
    names: readonly string[],
    deadline: Deadline,
    fresh?: 'fresh',
  ): Promise<ReadonlyMap<string, TopicMetadata>> {
    const wanted = fresh ? names : names.filter((name) => this.#isOld(this.#topics.get(name)?.atMs))
    if (fresh && wanted.length > 0) await this.#ask(wanted, deadline, this.#answeredBy)
    if (!fresh) await this.#refresh(wanted, deadline)
    const found = names.map((name) => this.#topics.get(name)?.metadata)
    return new Map(found.filter((topic) => topic !== undefined).map((topic) => [topic.name, topic]))
  }

  /**
   * All partitions and lanes of a container find at once that a topic's minute is over: one question answers them. Nobody
   * waits for the answer to one that may take longer than they have.
   */
  async #refresh(names: readonly string[], deadline: Deadline): Promise<void> {
    const othersFor = (name: string) => {
      const asking = this.#asking.get(name)
      return asking && asking.deadline.atMs <= deadline.atMs ? asking.answered : undefined
    }
    const others = new Set(names.map(othersFor))
    const mine = names.filter((name) => othersFor(name) === undefined)
    if (mine.length > 0) await this.#askForAll(mine, deadline)
    for (const other of others) await other?.catch(() => this.#ask(names, deadline, undefined))
  }

  async #askForAll(names: readonly string[], deadline: Deadline): Promise<void> {
    const answered = this.#ask(names, deadline, undefined)
    for (const name of names) this.#asking.set(name, { answered, deadline })
    await answered.finally(() => {
      for (const name of names) this.#asking.delete(name)
    })
  }

  async #ask(names: readonly string[], deadline: Deadline, notFrom: NodeAddress | undefined): Promise<void> {
    const topics = names.map((name) => ({ name }))
    const body = { topics, allowAutoTopicCreation: false, includeTopicAuthorizedOperations: false }
    const answer = await this.#client.tryEach('Metadata', deadline, notFrom, (node, soon) =>
      this.#client.send(node, 'Metadata', body, soon),
    )
    this.#answeredBy = answer.node
    this.#noteCluster(answer.body)
    for (const topic of answer.body.topics) this.#noteTopic(topic)
  }

  #noteCluster({ clusterId, brokers }: ResponseOf<'Metadata'>): void {
    if (clusterId === null) throw new RelayError('BROKER_ERROR', CLUSTER_ID_UNKNOWN)
    if (this.#cluster !== undefined && this.#cluster.id !== clusterId) {
      this.#topics.clear()
      this.#onOtherCluster()
    }
    this.#cluster = { id: clusterId, atMs: this.#clock.now() }
    this.#brokers.replace(brokers.map(({ nodeId, host, port }) => ({ nodeId, host, port })))
  }

  #noteTopic(answer: TopicAnswer): void {
    const name = answer.name ?? ''
    const known = this.#topics.get(name)?.metadata
    this.#topics.delete(name)
    const { verdict } = classify('Metadata', answer.errorCode)
    if (verdict === 'missing') return
    if (verdict !== 'ok') throw topicError(name, answer.errorCode)
    const old = known?.topicId === answer.topicId ? known.partitions : []
    const partitions = answer.partitions
      .map((partition) => newer(old[partition.partitionIndex], this.#partition(partition)))
      .sort((a, b) => a.partition - b.partition)
    this.#topics.set(name, { metadata: { name, topicId: answer.topicId, partitions }, atMs: this.#clock.now() })
  }

  #partition(answer: PartitionAnswer): PartitionMetadata {
    return {
      partition: answer.partitionIndex,
      leader: this.#brokers.byId(answer.leaderId),
      leaderEpoch: answer.leaderEpoch,
      replicas: answer.replicaNodes,
      inSyncReplicas: answer.isrNodes,
    }
  }

  #isOld(atMs: number | undefined): boolean {
    return atMs === undefined || this.#clock.now() - atMs > FRESH_MS
  }
}

/** A broker that lags may still name the leader before last: the higher epoch is the later truth. */
const newer = (known: PartitionMetadata | undefined, told: PartitionMetadata): PartitionMetadata =>
  known !== undefined && known.leaderEpoch > told.leaderEpoch ? known : told

function topicError(name: string, errorCode: number): RelayError {
  const { verdict } = classify('Metadata', errorCode)
  if (verdict === 'denied') return denied(`Metadata of topic '${name}'`, 'Metadata', errorCode, { topic: name })
  const code = verdict === 'config' ? 'TOPIC_INVALID' : 'BROKER_ERROR'
  return new RelayError(code, `Metadata of topic "${name}": ${kafkaErrorName(errorCode)}`, {
    context: { topic: name, errorCode },
  })
}
