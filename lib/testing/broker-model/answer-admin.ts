import type { CreatableTopic, CreatableTopicResult } from '../../kafka/protocol/generated/create-topics.ts'
import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import { noTopicId } from './answer-cluster.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelNode } from './node.ts'
import { checkCoordinator, serving } from './serving.ts'

const topicNamePattern = /^[a-zA-Z0-9._-]{1,249}$/
/** CreateTopics: "as the broker thinks best". */
const brokerDefault = -1

/** What operators do to topics. Source: Kafka `ReplicationControlManager.java`; a topic made again has another id (KIP-516). */
export function answerCreateTopics(model: ClusterModel, body: RequestOf<'CreateTopics'>): ResponseOf<'CreateTopics'> {
  const topics = body.topics.map((plan) => createTopic(model, plan, body.validateOnly ?? false))
  return { throttleTimeMs: 0, topics }
}

function createTopic(model: ClusterModel, plan: CreatableTopic, validateOnly: boolean): CreatableTopicResult {
  const { name } = plan
  const errorCode = checkTopic(model, plan)
  const created = { name, errorCode, errorMessage: null, topicConfigErrorCode: codes.NONE, configs: [] }
  if (errorCode !== codes.NONE) return { ...created, topicId: noTopicId, numPartitions: -1, replicationFactor: -1 }
  const partitions = Math.max(1, plan.numPartitions)
  const isDefault = plan.replicationFactor === brokerDefault
  const replicationFactor = isDefault ? Math.min(3, model.nodes.length) : plan.replicationFactor
  const configs = Object.fromEntries(plan.configs.map((config) => [config.name, config.value ?? '']))
  const topicId = validateOnly ? noTopicId : model.createTopic({ name, partitions, replicationFactor, configs }).id
  return { ...created, topicId, numPartitions: partitions, replicationFactor }
}

function checkTopic(model: ClusterModel, { name, numPartitions, replicationFactor, configs }: CreatableTopic): number {
  if (!topicNamePattern.test(name) || name === '.' || name === '..') return codes.INVALID_TOPIC_EXCEPTION
  if (model.topics.find(name) !== undefined) return codes.TOPIC_ALREADY_EXISTS
  if (numPartitions < 1 && numPartitions !== brokerDefault) return codes.INVALID_PARTITIONS
  const isReplicated = replicationFactor === brokerDefault || replicationFactor >= 1
  if (!isReplicated || replicationFactor > model.nodes.length) return codes.INVALID_REPLICATION_FACTOR
  return configs.every((config) => model.topics.knows(config.name)) ? codes.NONE : codes.INVALID_CONFIG
}

export function answerDeleteTopics(model: ClusterModel, body: RequestOf<'DeleteTopics'>): ResponseOf<'DeleteTopics'> {
  const responses = body.topics.map(({ name = null, topicId }) => {
    const topic = name === null ? model.topics.findById(topicId) : model.topics.find(name)
    const missing = name === null ? codes.UNKNOWN_TOPIC_ID : codes.UNKNOWN_TOPIC_OR_PARTITION
    if (topic !== undefined) model.deleteTopic(topic.name)
    const errorCode = topic === undefined ? missing : codes.NONE
    return { name: topic?.name ?? name, topicId: topic?.id ?? topicId, errorCode, errorMessage: null }
  })
  return { throttleTimeMs: 0, responses }
}

export function answerCreatePartitions(
  model: ClusterModel,
  body: RequestOf<'CreatePartitions'>,
): ResponseOf<'CreatePartitions'> {
  const results = body.topics.map(({ name, count }) => {
    const topic = model.topics.find(name)
    if (topic === undefined) return { name, errorCode: codes.UNKNOWN_TOPIC_OR_PARTITION, errorMessage: null }
    if (count <= topic.partitions.length) return { name, errorCode: codes.INVALID_PARTITIONS, errorMessage: null }
    if (!body.validateOnly) model.growTopic(topic, count)
    return { name, errorCode: codes.NONE, errorMessage: null }
  })
  return { throttleTimeMs: 0, results }
}

/** DeleteRecords: the log start moves, -1 meaning to the high watermark. Source: Kafka `UnifiedLog.maybeIncrementLogStartOffset`. */
export function answerDeleteRecords(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'DeleteRecords'>,
): ResponseOf<'DeleteRecords'> {
  const topics = body.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex, offset }) => {
      const served = serving(model, node, name, partitionIndex)
      if (served.as === 'none') return { partitionIndex, lowWatermark: -1n, errorCode: served.code }
      const { log } = served.partition
      const until = offset === -1n ? log.endOffset : offset
      if (until > log.endOffset) return { partitionIndex, lowWatermark: -1n, errorCode: codes.OFFSET_OUT_OF_RANGE }
      log.deleteBefore(until)
      return { partitionIndex, lowWatermark: log.startOffset, errorCode: codes.NONE }
    }),
  }))
  return { throttleTimeMs: 0, topics }
}

/** Groups without members are "Empty"; unknown ones are "Dead" (DescribeGroups 5). */
export function answerDescribeGroups(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'DescribeGroups'>,
): ResponseOf<'DescribeGroups'> {
  const groups = body.groups.map((groupId) => ({
    errorCode: checkCoordinator(node, model.groupPartition(groupId)),
    groupId,
    groupState: hasGroup(model, groupId) ? 'Empty' : 'Dead',
    protocolType: '',
    protocolData: '',
    members: [],
    authorizedOperations: -2147483648,
  }))
  return { throttleTimeMs: 0, groups }
}

export function answerDeleteGroups(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'DeleteGroups'>,
): ResponseOf<'DeleteGroups'> {
  const results = body.groupsNames.map((groupId) => {
    const refused = checkCoordinator(node, model.groupPartition(groupId))
    const errorCode = refused || (hasGroup(model, groupId) ? codes.NONE : codes.GROUP_ID_NOT_FOUND)
    if (errorCode === codes.NONE) coordinatorOf(model, groupId).deleteGroup(groupId)
    return { groupId, errorCode }
  })
  return { throttleTimeMs: 0, results }
}

export function answerOffsetDelete(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'OffsetDelete'>,
): ResponseOf<'OffsetDelete'> {
  const { groupId } = body
  const refused = checkCoordinator(node, model.groupPartition(groupId))
  const errorCode = refused || (hasGroup(model, groupId) ? codes.NONE : codes.GROUP_ID_NOT_FOUND)
  if (errorCode !== codes.NONE) return { errorCode, throttleTimeMs: 0, topics: [] }
  const topics = body.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex }) => {
      const isKnown = model.topics.partition(name, partitionIndex) !== undefined
      if (!isKnown) return { partitionIndex, errorCode: codes.UNKNOWN_TOPIC_OR_PARTITION }
      coordinatorOf(model, groupId).deleteOffset(groupId, { topic: name, partition: partitionIndex })
      return { partitionIndex, errorCode: codes.NONE }
    }),
  }))
  return { errorCode, throttleTimeMs: 0, topics }
}

const coordinatorOf = (model: ClusterModel, group: string) =>
  model.groupCoordinator(model.groupPartition(group).partition)

const hasGroup = (model: ClusterModel, group: string): boolean => coordinatorOf(model, group).has(group)
