import { tpKey } from '../../kafka/record.ts'
import type { BrokerConfig } from './config.ts'
import { PartitionLog } from './log.ts'
import type { SegmentLimits } from './segments.ts'

export const offsetsTopic = '__consumer_offsets'
export const transactionsTopic = '__transaction_state'

export interface ModelPartition {
  readonly topic: string
  readonly partition: number
  readonly log: PartitionLog
  readonly replicas: readonly number[]
  /** Node id; null while no replica is up. */
  leader: number | null
  leaderEpoch: number
}

export interface ModelTopic {
  readonly name: string
  readonly id: string
  readonly isInternal: boolean
  readonly replicationFactor: number
  readonly configs: Map<string, string>
  readonly partitions: ModelPartition[]
}

export interface TopicPlan {
  readonly name: string
  readonly partitions: number
  /** Default: all nodes, at most three. */
  readonly replicationFactor?: number
  readonly configs?: Readonly<Record<string, string>>
}

/** Topic settings that the model knows, as text, with what the broker gives when the topic says nothing. */
export function topicDefaults(config: BrokerConfig): ReadonlyMap<string, string> {
  return new Map([
    ['cleanup.policy', 'delete'],
    ['compression.type', 'producer'],
    ['delete.retention.ms', '86400000'],
    ['max.message.bytes', String(config.messageBytesMax)],
    ['message.timestamp.after.max.ms', String(config.timestampAfterMaxMs)],
    ['message.timestamp.before.max.ms', '9223372036854775807'],
    ['message.timestamp.type', 'CreateTime'],
    ['min.insync.replicas', String(config.minInSyncReplicas)],
    ['retention.bytes', '-1'],
    ['retention.ms', String(config.retentionMs)],
    ['segment.bytes', '1073741824'],
    ['segment.ms', '604800000'],
    ['unclean.leader.election.enable', 'false'],
  ])
}

/** The topics of the cluster: names, ids, placement. Leaders are chosen by whoever knows which nodes are up. */
export class Topics {
  private readonly byName = new Map<string, ModelTopic>()
  private readonly defaults: ReadonlyMap<string, string>
  private made = 0

  constructor(config: BrokerConfig) {
    this.defaults = topicDefaults(config)
  }

  all(): readonly ModelTopic[] {
    return [...this.byName.values()]
  }

  find(name: string): ModelTopic | undefined {
    return this.byName.get(name)
  }

  findById(id: string): ModelTopic | undefined {
    return this.all().find((topic) => topic.id === id)
  }

  partition(name: string, partition: number): ModelPartition | undefined {
    return this.find(name)?.partitions[partition]
  }

  add({ name, partitions, configs = {}, ...plan }: TopicPlan, id: string, nodeIds: readonly number[]): ModelTopic {
    const replicationFactor = plan.replicationFactor ?? Math.min(3, nodeIds.length)
    const isInternal = name === offsetsTopic || name === transactionsTopic
    const topic: ModelTopic = {
      name,
      id,
      isInternal,
      replicationFactor,
      configs: new Map(Object.entries(configs)),
      partitions: [],
    }
    this.byName.set(name, topic)
    this.made++
    this.grow(topic, partitions, nodeIds)
    return topic
  }

  /** Adds partitions up to `count`, leaders spread over the nodes. */
  grow(topic: ModelTopic, count: number, nodeIds: readonly number[]): void {
    for (let partition = topic.partitions.length; partition < count; partition++) {
      const source = { topic: topic.name, partition }
      const replicas = Array.from({ length: topic.replicationFactor }, (_, index) => {
        return nodeIds[(this.made + partition + index) % nodeIds.length] ?? -1
      })
      topic.partitions.push({ ...source, log: new PartitionLog(source), replicas, leader: null, leaderEpoch: -1 })
    }
  }

  remove(name: string): void {
    this.byName.delete(name)
  }

  /** The topic's own value, or the broker's; undefined for settings that the model does not know. */
  config(topic: ModelTopic, setting: string): string | undefined {
    return topic.configs.get(setting) ?? this.defaults.get(setting)
  }

  segmentLimits(topic: ModelTopic): SegmentLimits {
    return { ms: Number(this.config(topic, 'segment.ms')), bytes: Number(this.config(topic, 'segment.bytes')) }
  }

  knows(setting: string): boolean {
    return this.defaults.has(setting)
  }

  settings(): readonly string[] {
    return [...this.defaults.keys()]
  }
}

/** Which partition of an internal topic coordinates a group or transactional id (Kafka: `Utils.abs(key.hashCode) % count`). */
export function coordinatorPartition(key: string, count: number): number {
  let hash = 0
  for (let index = 0; index < key.length; index++) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0
  return (hash === -2147483648 ? 0 : Math.abs(hash)) % count
}

export const partitionKey = ({ topic, partition }: ModelPartition): string => tpKey({ topic, partition })
