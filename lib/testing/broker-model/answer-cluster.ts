import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { MetadataResponsePartition, MetadataResponseTopic } from '../../kafka/protocol/generated/metadata.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelPartition, ModelTopic } from './topics.ts'

export const noTopicId = '00000000-0000-0000-0000-000000000000'
/** "Not asked for" in the answers about permissions. */
const noOperations = -2147483648

const keyTypes = { group: 0, transaction: 1 } as const

function brokers(model: ClusterModel) {
  const up = model.nodes.filter(({ isUp }) => isUp)
  return up.map(({ id, address }) => ({ nodeId: id, host: address.host, port: address.port, rack: null }))
}

const controllerOf = (model: ClusterModel): number => brokers(model)[0]?.nodeId ?? -1

/** Metadata by name or by topic id. Source: Kafka `KafkaApis.handleTopicMetadataRequest`; KIP-516. */
export function answerMetadata(model: ClusterModel, body: RequestOf<'Metadata'>): ResponseOf<'Metadata'> {
  const asked = body.topics ?? model.topics.all().map(({ name }) => ({ name }))
  const topics = asked.map(({ name, topicId = noTopicId }: { name: string | null; topicId?: string }) => {
    const topic = name === null ? model.topics.findById(topicId) : model.topics.find(name)
    if (topic !== undefined) return describedTopic(model, topic)
    return name === null
      ? missing(null, topicId, codes.UNKNOWN_TOPIC_ID)
      : missing(name, noTopicId, codes.UNKNOWN_TOPIC_OR_PARTITION)
  })
  return {
    throttleTimeMs: 0,
    brokers: brokers(model),
    clusterId: model.clusterId,
    controllerId: controllerOf(model),
    topics,
    clusterAuthorizedOperations: noOperations,
  }
}

function describedTopic(model: ClusterModel, topic: ModelTopic): MetadataResponseTopic {
  return {
    ...missing(topic.name, topic.id, codes.NONE),
    isInternal: topic.isInternal,
    partitions: topic.partitions.map((partition) => describedPartition(model, partition)),
  }
}

function describedPartition(model: ClusterModel, partition: ModelPartition): MetadataResponsePartition {
  const isUp = (id: number) => model.node(id).isUp
  return {
    errorCode: partition.leader === null ? codes.LEADER_NOT_AVAILABLE : codes.NONE,
    partitionIndex: partition.partition,
    leaderId: partition.leader ?? -1,
    leaderEpoch: partition.leaderEpoch,
    replicaNodes: partition.replicas,
    isrNodes: partition.replicas.filter(isUp),
    offlineReplicas: partition.replicas.filter((id) => !isUp(id)),
  }
}

function missing(name: string | null, topicId: string, errorCode: number): MetadataResponseTopic {
  return { errorCode, name, topicId, isInternal: false, partitions: [], topicAuthorizedOperations: noOperations }
}

/** FindCoordinator: the leader of the internal partition that the key hashes to. */
export function answerFindCoordinator(
  model: ClusterModel,
  body: RequestOf<'FindCoordinator'>,
): ResponseOf<'FindCoordinator'> {
  const { keyType = keyTypes.group, coordinatorKeys } = body
  const coordinators = coordinatorKeys.map((key) => {
    const { leader } = keyType === keyTypes.transaction ? model.transactionPartition(key) : model.groupPartition(key)
    const address = leader === null ? null : model.node(leader).address
    if (address === null) return { key, ...nobody(codes.COORDINATOR_NOT_AVAILABLE) }
    return {
      key,
      nodeId: address.nodeId,
      host: address.host,
      port: address.port,
      errorCode: codes.NONE,
      errorMessage: null,
    }
  })
  return { throttleTimeMs: 0, coordinators }
}

const nobody = (errorCode: number) => ({ nodeId: -1, host: '', port: -1, errorCode, errorMessage: null })

export function answerDescribeCluster(
  model: ClusterModel,
  body: RequestOf<'DescribeCluster'>,
): ResponseOf<'DescribeCluster'> {
  return {
    throttleTimeMs: 0,
    errorCode: codes.NONE,
    errorMessage: null,
    endpointType: body.endpointType ?? 1,
    clusterId: model.clusterId,
    controllerId: controllerOf(model),
    brokers: brokers(model).map(({ nodeId, ...rest }) => ({ brokerId: nodeId, ...rest })),
    clusterAuthorizedOperations: noOperations,
  }
}
