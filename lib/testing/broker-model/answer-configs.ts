import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelTopic } from './topics.ts'

/** Kafka `ConfigResource.Type`, `DescribeConfigsResponse.ConfigSource` and `AlterConfigOp.OpType`. */
const resource = { topic: 2, broker: 4 } as const
const source = { topic: 1, staticBroker: 4, default: 5 } as const
const operation = { set: 0, delete: 1 } as const
const unknownType = 0

interface Setting {
  readonly name: string
  readonly value: string
  readonly source: number
}

/** DescribeConfigs for topics and brokers, of the settings that the model knows. */
export function answerDescribeConfigs(
  model: ClusterModel,
  body: RequestOf<'DescribeConfigs'>,
): ResponseOf<'DescribeConfigs'> {
  const results = body.resources.map(({ resourceType, resourceName, configurationKeys }) => {
    const settings = settingsOf(model, resourceType, resourceName)
    const isWanted = ({ name }: Setting) => configurationKeys === null || configurationKeys.includes(name)
    return {
      errorCode: settings === null ? codes.UNKNOWN_TOPIC_OR_PARTITION : codes.NONE,
      errorMessage: null,
      resourceType,
      resourceName,
      configs: (settings ?? []).filter(isWanted).map(described),
    }
  })
  return { throttleTimeMs: 0, results }
}

function described(setting: Setting) {
  return {
    name: setting.name,
    value: setting.value,
    readOnly: false,
    configSource: setting.source,
    isSensitive: false,
    synonyms: [],
    configType: unknownType,
    documentation: null,
  }
}

function settingsOf(model: ClusterModel, resourceType: number, resourceName: string): readonly Setting[] | null {
  if (resourceType === resource.broker) return brokerSettings(model)
  const topic = resourceType === resource.topic ? model.topics.find(resourceName) : undefined
  return topic === undefined ? null : topicSettings(model, topic)
}

function topicSettings(model: ClusterModel, topic: ModelTopic): readonly Setting[] {
  return model.topics.settings().map((name) => {
    const value = model.topics.config(topic, name) ?? ''
    return { name, value, source: topic.configs.has(name) ? source.topic : source.default }
  })
}

function brokerSettings({ config, nodes }: ClusterModel): readonly Setting[] {
  const internalReplication = String(Math.min(3, nodes.length))
  const values: readonly (readonly [name: string, value: string | number | boolean])[] = [
    ['auto.create.topics.enable', false],
    ['log.retention.ms', config.retentionMs],
    ['message.max.bytes', config.messageBytesMax],
    ['min.insync.replicas', config.minInSyncReplicas],
    ['offset.metadata.max.bytes', config.offsetMetadataBytesMax],
    ['offsets.retention.minutes', config.offsetsRetentionMs / 60_000],
    ['offsets.topic.replication.factor', internalReplication],
    ['transaction.max.timeout.ms', config.transactionMaxTimeoutMs],
    ['transaction.partition.verification.enable', config.partitionVerification],
    ['transaction.state.log.replication.factor', internalReplication],
    ['transactional.id.expiration.ms', config.transactionalIdExpirationMs],
    ['unclean.leader.election.enable', false],
  ]
  return values.map(([name, value]) => ({ name, value: String(value), source: source.staticBroker }))
}

/** IncrementalAlterConfigs for topics: set and delete (KIP-339). */
export function answerIncrementalAlterConfigs(
  model: ClusterModel,
  body: RequestOf<'IncrementalAlterConfigs'>,
): ResponseOf<'IncrementalAlterConfigs'> {
  const responses = body.resources.map(({ resourceType, resourceName, configs }) => {
    const topic = resourceType === resource.topic ? model.topics.find(resourceName) : undefined
    const isKnown = configs.every(({ name }) => model.topics.knows(name))
    const isPossible = configs.every(
      ({ configOperation: asked }) => asked === operation.set || asked === operation.delete,
    )
    const errorCode =
      topic === undefined ? codes.UNKNOWN_TOPIC_OR_PARTITION : isKnown && isPossible ? codes.NONE : codes.INVALID_CONFIG
    if (topic !== undefined && errorCode === codes.NONE && !body.validateOnly) {
      for (const { name, value, configOperation } of configs) {
        if (configOperation === operation.delete || value === null) topic.configs.delete(name)
        else topic.configs.set(name, value)
      }
    }
    return { errorCode, errorMessage: null, resourceType, resourceName }
  })
  return { throttleTimeMs: 0, responses }
}
