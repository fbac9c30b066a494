import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { TopicPartition } from '../../kafka/record.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelNode } from './node.ts'
import { checkCoordinator, refusal, serving } from './serving.ts'
import type { ModelPartition } from './topics.ts'
import { noIdentity } from './transaction-state.ts'

/** From this version on EndTxn speaks of transactions whose epoch grows (KIP-890). */
const epochBumpVersion = 5

/** InitProducerId. Source: Kafka `TransactionCoordinator.handleInitProducerId`; without a transactional id: plain idempotence. */
export function answerInitProducerId(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'InitProducerId'>,
): ResponseOf<'InitProducerId'> {
  const { transactionalId, transactionTimeoutMs: timeoutMs, producerId = -1n, producerEpoch = -1 } = body
  const initialised = (errorCode: number, identity: { producerId: bigint; producerEpoch: number }) => {
    return { throttleTimeMs: 0, errorCode, producerId: identity.producerId, producerEpoch: identity.producerEpoch }
  }
  if (transactionalId === null) return initialised(codes.NONE, { producerId: model.newProducerId(), producerEpoch: 0 })
  if (transactionalId === '') return initialised(codes.INVALID_REQUEST, noIdentity)
  const refused = checkCoordinator(node, model.transactionPartition(transactionalId))
  if (refused !== codes.NONE) return initialised(refused, noIdentity)
  const { code, identity } = model.transactions.init({
    transactionalId,
    timeoutMs,
    expected: { producerId, producerEpoch },
  })
  return initialised(code, identity)
}

/** AddPartitionsToTxn 3, all or nothing. Source: Kafka `KafkaApis.handleAddPartitionsToTxnRequest`. */
export function answerAddPartitionsToTxn(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'AddPartitionsToTxn'>,
): ResponseOf<'AddPartitionsToTxn'> {
  const { v3AndBelowTransactionalId: transactionalId, v3AndBelowTopics: topics } = body
  const identity = { producerId: body.v3AndBelowProducerId, producerEpoch: body.v3AndBelowProducerEpoch }
  const asked = topics.flatMap(({ name, partitions }) => partitions.map((partition) => ({ topic: name, partition })))
  const isMissing = ({ topic, partition }: TopicPartition) => model.topics.partition(topic, partition) === undefined
  const isSpoiled = asked.some(isMissing)
  const code =
    checkCoordinator(node, model.transactionPartition(transactionalId)) ||
    (isSpoiled ? codes.OPERATION_NOT_ATTEMPTED : model.transactions.add(transactionalId, identity, asked))
  const resultsByTopicV3AndBelow = topics.map(({ name, partitions }) => ({
    name,
    resultsByPartition: partitions.map((partition) => ({
      partitionIndex: partition,
      partitionErrorCode: isMissing({ topic: name, partition }) ? codes.UNKNOWN_TOPIC_OR_PARTITION : code,
    })),
  }))
  return { throttleTimeMs: 0, resultsByTopicV3AndBelow }
}

/** AddOffsetsToTxn: the partition that coordinates the group becomes part of the transaction. */
export function answerAddOffsetsToTxn(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'AddOffsetsToTxn'>,
): ResponseOf<'AddOffsetsToTxn'> {
  const { transactionalId, groupId } = body
  const errorCode =
    checkCoordinator(node, model.transactionPartition(transactionalId)) ||
    model.transactions.add(transactionalId, body, [sourceOf(model.groupPartition(groupId))])
  return { throttleTimeMs: 0, errorCode }
}

export function answerEndTxn(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'EndTxn'>,
  version: number,
): ResponseOf<'EndTxn'> {
  const { transactionalId, committed } = body
  const refused = checkCoordinator(node, model.transactionPartition(transactionalId))
  if (refused !== codes.NONE) return { throttleTimeMs: 0, errorCode: refused, ...noIdentity }
  const protocol = version >= epochBumpVersion ? 2 : 1
  const { code, identity } = model.transactions.end(transactionalId, body, committed, protocol)
  const { producerId, producerEpoch } = protocol === 2 ? identity : noIdentity
  return { throttleTimeMs: 0, errorCode: code, producerId, producerEpoch }
}

/** WriteTxnMarkers by an operator: straight into the partitions, whatever the coordinator believes (P9, KIP-664). */
export function answerWriteTxnMarkers(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'WriteTxnMarkers'>,
): ResponseOf<'WriteTxnMarkers'> {
  const markers = body.markers.map(({ topics, transactionResult: commit, ...identity }) => ({
    producerId: identity.producerId,
    topics: topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map((partitionIndex) => {
        const served = serving(model, node, name, partitionIndex)
        const errorCode =
          served.as === 'leader' ? model.appendMarker(served.partition, { ...identity, commit }) : refusal(served)
        return { partitionIndex, errorCode }
      }),
    })),
  }))
  return { markers }
}

const sourceOf = ({ topic, partition }: ModelPartition): TopicPartition => ({ topic, partition })
