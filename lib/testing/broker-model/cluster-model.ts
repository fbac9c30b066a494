import { type Clock, type Random, systemRandom } from '../../clock.ts'
import type { TopicPartition } from '../../kafka/record.ts'
import type { NodeAddress } from '../../kafka/transport.ts'
import type { Marker } from './batches.ts'
import { codes } from './codes.ts'
import { type BrokerConfig, defaultConfig } from './config.ts'
import { type Effect, type EffectScheduler, soon } from './effects.ts'
import { GroupCoordinator } from './group-coordinator.ts'
import { ModelNode } from './node.ts'
import { type ScanPlan, Scans } from './scans.ts'
import {
  coordinatorPartition,
  type ModelPartition,
  type ModelTopic,
  offsetsTopic,
  partitionKey,
  type TopicPlan,
  Topics,
  transactionsTopic,
} from './topics.ts'
import { TransactionCoordinator } from './transaction-coordinator.ts'
import type { TransactionProtocol } from './transaction-state.ts'

export interface ClusterModelOptions {
  readonly clock: Clock
  readonly random?: Random
  /** Default 1. */
  readonly nodes?: number
  /** The finalized `transaction.version`: 2 as Kafka 4.x, 1 as 3.x. Default 2. */
  readonly transactionVersion?: TransactionProtocol
  readonly config?: Partial<BrokerConfig>
  readonly effects?: EffectScheduler
}

/**
 * A Kafka cluster in memory: its state, and what an operator or a failure can do to it. Requests reach it through
 * `ModelTransport`; `broker.ts` has the answers. It starts no timers: what brokers do every so often is made up for when
 * the next request comes, or when `runScans` is called.
 *
 * Guarantee: with the same clock, random source, effects and requests it does the same, every time.
 */
export class ClusterModel {
  readonly clock: Clock
  readonly config: BrokerConfig
  readonly clusterId: string
  readonly transactionVersion: TransactionProtocol
  readonly topics: Topics
  readonly nodes: readonly ModelNode[]
  readonly transactions: TransactionCoordinator
  private readonly random: Random
  private readonly effects: EffectScheduler
  private readonly groupCoordinators: readonly GroupCoordinator[]
  private readonly scans: Scans
  private isCatchingUp = false
  private lastProducerId = 999n

  constructor(options: ClusterModelOptions) {
    this.clock = options.clock
    this.random = options.random ?? systemRandom
    this.effects = options.effects ?? soon
    this.config = { ...defaultConfig, ...options.config }
    this.transactionVersion = options.transactionVersion ?? 2
    this.clusterId = this.random.id().replaceAll('-', '').slice(0, 22)
    this.nodes = Array.from({ length: options.nodes ?? 1 }, (_, index) => new ModelNode(index + 1))
    this.topics = new Topics(this.config)
    this.transactions = new TransactionCoordinator(this.coordinatorPorts())
    const count = this.config.coordinatorPartitions
    this.groupCoordinators = Array.from({ length: count }, () => new GroupCoordinator())
    for (const name of [offsetsTopic, transactionsTopic]) this.createTopic({ name, partitions: count })
    this.scans = new Scans(this.clock, this.scanPlan())
  }

  addresses(): readonly NodeAddress[] {
    return this.nodes.map(({ address }) => address)
  }

  createTopic(plan: TopicPlan): ModelTopic {
    const topic = this.topics.add(plan, this.random.id(), this.nodeIds())
    this.elect()
    return topic
  }

  growTopic(topic: ModelTopic, count: number): void {
    this.topics.grow(topic, count, this.nodeIds())
    this.elect()
  }

  deleteTopic(name: string): void {
    this.topics.remove(name)
    for (const coordinator of this.groupCoordinators) coordinator.deleteTopic(name)
  }

  newProducerId(): bigint {
    this.lastProducerId++
    return this.lastProducerId
  }

  /** The internal partition whose leader coordinates the group. */
  groupPartition(group: string): ModelPartition {
    return this.internal(offsetsTopic, coordinatorPartition(group, this.config.coordinatorPartitions))
  }

  transactionPartition(transactionalId: string): ModelPartition {
    return this.internal(transactionsTopic, coordinatorPartition(transactionalId, this.config.coordinatorPartitions))
  }

  groupCoordinator(offsetsPartition: number): GroupCoordinator {
    const coordinator = this.groupCoordinators[offsetsPartition]
    if (coordinator === undefined) throw new Error(`no partition ${offsetsPartition} in ${offsetsTopic}`)
    return coordinator
  }

  /** Code of the write; the leader is taken for granted. */
  appendMarker(partition: ModelPartition, marker: Marker): number {
    const nowMs = this.clock.now()
    if (partition.topic === offsetsTopic) {
      const settle = (run: () => void) => this.settleOffsets(partition, run)
      return this.groupCoordinator(partition.partition).endTransaction(marker, nowMs, settle)
    }
    const topic = this.topics.find(partition.topic)
    if (topic === undefined) return codes.UNKNOWN_TOPIC_OR_PARTITION
    const segments = this.topics.segmentLimits(topic)
    return partition.log.appendMarker(marker, { nowMs, leaderEpoch: partition.leaderEpoch, segments })
  }

  /**
   * Gives a partition, and with it a coordinator's keys, to another node. `staleNode`: the old leader has not heard of
   * it and goes on answering reads from what it knew, until `catchUp` (P1: paused, replaced, resumed).
   */
  moveLeader({ topic, partition }: TopicPartition, toNode: number, staleNode?: 'stale'): void {
    const moved = this.topics.partition(topic, partition)
    if (moved === undefined) throw new Error(`no partition ${topic}-${partition}`)
    if (moved.leader !== null && staleNode === 'stale') this.node(moved.leader).freeze(moved, this.frozenGroups(moved))
    this.lead(moved, toNode)
  }

  /** The node learns who leads what. */
  catchUp(nodeId: number): void {
    this.node(nodeId).thawViews()
  }

  /** The process dies: connections break, its partitions go to other replicas or have no leader. */
  stopNode(nodeId: number): void {
    this.node(nodeId).stop()
    for (const partition of this.ledBy(nodeId)) partition.leader = null
    this.elect()
  }

  startNode(nodeId: number): void {
    this.node(nodeId).start()
    this.elect()
  }

  /** The process stands still: it answers nothing. With `replaced` its partitions go to others, of which it knows nothing. */
  pauseNode(nodeId: number, replaced?: 'replaced'): void {
    this.node(nodeId).pause()
    if (replaced === undefined) return
    for (const partition of this.ledBy(nodeId)) {
      const heir = partition.replicas.find((id) => id !== nodeId && this.node(id).isUp)
      if (heir !== undefined) this.moveLeader(partition, heir, 'stale')
    }
  }

  resumeNode(nodeId: number): void {
    this.node(nodeId).resume()
    this.transactions.retryMarkers()
  }

  node(nodeId: number): ModelNode {
    const node = this.nodes.find(({ id }) => id === nodeId)
    if (node === undefined) throw new Error(`no node ${nodeId}, there are ${this.nodeIds().join(', ')}`)
    return node
  }

  /** Makes up for the periodic work that has come due since the last request, its effects included. */
  catchUpScans(): void {
    this.isCatchingUp = true
    try {
      this.runScans()
    } finally {
      this.isCatchingUp = false
    }
  }

  /** Does the periodic work that is due; effects go through the scheduler. */
  runScans(): void {
    this.scans.run()
  }

  private scanPlan(): readonly ScanPlan[] {
    const { config } = this
    return [
      { everyMs: config.transactionAbortScanMs, run: () => this.transactions.abortTimedOut() },
      { everyMs: config.transactionalIdScanMs, run: () => this.transactions.expireIds() },
      { everyMs: config.producerIdScanMs, run: () => this.expireProducers() },
      { everyMs: config.offsetsScanMs, run: () => this.expireOffsets() },
      { everyMs: config.retentionScanMs, run: () => this.applyRetention() },
    ]
  }

  private expireProducers(): void {
    const beforeMs = this.clock.now() - this.config.producerIdExpirationMs
    for (const { log } of this.partitions()) log.producers.expire(beforeMs)
  }

  private expireOffsets(): void {
    const beforeMs = this.clock.now() - this.config.offsetsRetentionMs
    for (const coordinator of this.groupCoordinators) coordinator.expire(beforeMs)
  }

  private applyRetention(): void {
    for (const topic of this.topics.all()) {
      const retentionMs = Number(this.topics.config(topic, 'retention.ms'))
      const isKept = retentionMs < 0 || !this.topics.config(topic, 'cleanup.policy')?.includes('delete')
      if (isKept) continue
      for (const { log } of topic.partitions) log.retain(this.clock.now() - retentionMs)
    }
  }

  private coordinatorPorts() {
    return {
      clock: this.clock,
      config: this.config,
      protocol: this.transactionVersion,
      effects: {
        schedule: (effect: Effect, run: () => void) => this.schedule(effect, run),
      } satisfies EffectScheduler,
      newProducerId: () => this.newProducerId(),
      coordinatorEpoch: (transactionalId: string) => this.transactionPartition(transactionalId).leaderEpoch,
      isCoordinated: (transactionalId: string) => this.isServed(this.transactionPartition(transactionalId)),
      writeMarker: (partition: TopicPartition, marker: Marker) => this.writeMarker(partition, marker),
    }
  }

  private schedule(effect: Effect, run: () => void): void {
    if (this.isCatchingUp) run()
    else this.effects.schedule(effect, run)
  }

  /** The coordinator of 4.x reads its marker at once, the one of 3.x in a task of its own. */
  private settleOffsets({ topic, partition }: ModelPartition, run: () => void): void {
    if (this.transactionVersion === 2) run()
    else this.schedule({ kind: 'offsets', partition: { topic, partition } }, run)
  }

  /** A deleted topic needs no marker; one whose leader is away waits for it. */
  private writeMarker({ topic, partition }: TopicPartition, marker: Marker): boolean {
    const found = this.topics.partition(topic, partition)
    if (found === undefined) return true
    return this.isServed(found) && this.appendMarker(found, marker) === codes.NONE
  }

  private isServed({ leader }: ModelPartition): boolean {
    return leader !== null && !this.node(leader).isPaused
  }

  /** Every partition without a leader gets the first replica that is up, if one is. */
  private elect(): void {
    for (const partition of this.partitions()) {
      const heir = partition.leader === null ? partition.replicas.find((id) => this.node(id).isUp) : undefined
      if (heir !== undefined) this.lead(partition, heir)
    }
    this.transactions.retryMarkers()
  }

  private lead(partition: ModelPartition, nodeId: number): void {
    partition.leader = nodeId
    partition.leaderEpoch++
    this.node(nodeId).forgetView(partitionKey(partition))
    this.transactions.retryMarkers()
  }

  private frozenGroups({ topic, partition }: ModelPartition): GroupCoordinator | null {
    return topic === offsetsTopic ? this.groupCoordinator(partition).frozen() : null
  }

  private internal(topic: string, partition: number): ModelPartition {
    const found = this.topics.partition(topic, partition)
    if (found === undefined) throw new Error(`no partition ${topic}-${partition}`)
    return found
  }

  private partitions(): readonly ModelPartition[] {
    return this.topics.all().flatMap(({ partitions }) => partitions)
  }

  private ledBy(nodeId: number): readonly ModelPartition[] {
    return this.partitions().filter(({ leader }) => leader === nodeId)
  }

  private nodeIds(): readonly number[] {
    return this.nodes.map(({ id }) => id)
  }
}
