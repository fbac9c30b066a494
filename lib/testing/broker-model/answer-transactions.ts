import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { TopicPartition } from '../../kafka/record.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelNode } from './node.ts'
import type { ProducerStates } from './producer-state.ts'
import { checkCoordinator, serving } from './serving.ts'
import { type ModelPartition, offsetsTopic } from './topics.ts'
import { noIdentity, type Transaction } from './transaction-state.ts'

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

export function answerDescribeTransactions(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'DescribeTransactions'>,
): ResponseOf<'DescribeTransactions'> {
  const transactionStates = body.transactionalIds.map((transactionalId) => {
    const found = model.transactions.find(transactionalId)
    const refused = checkCoordinator(node, model.transactionPartition(transactionalId))
    if (refused !== codes.NONE) return undescribed(transactionalId, refused)
    return found === undefined ? undescribed(transactionalId, codes.TRANSACTIONAL_ID_NOT_FOUND) : described(found)
  })
  return { throttleTimeMs: 0, transactionStates }
}

type DescribedTransaction = ResponseOf<'DescribeTransactions'>['transactionStates'][number]

function described(transaction: Transaction): DescribedTransaction {
  const topics = new Map<string, number[]>()
  for (const { topic, partition } of transaction.partitions.values()) {
    topics.set(topic, [...(topics.get(topic) ?? []), partition])
  }
  return {
    ...undescribed(transaction.transactionalId, codes.NONE),
    transactionState: transaction.state,
    transactionTimeoutMs: transaction.timeoutMs,
    transactionStartTimeMs: BigInt(transaction.startedAtMs),
    producerId: transaction.producerId,
    producerEpoch: transaction.producerEpoch,
    topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })),
  }
}

function undescribed(transactionalId: string, errorCode: number): DescribedTransaction {
  return {
    errorCode,
    transactionalId,
    transactionState: '',
    transactionTimeoutMs: 0,
    transactionStartTimeMs: 0n,
    producerId: 0n,
    producerEpoch: 0,
    topics: [],
  }
}

const stateNames = ['Empty', 'Ongoing', 'PrepareCommit', 'PrepareAbort', 'CompleteCommit', 'CompleteAbort']

/** ListTransactions: those that the node coordinates. Source: Kafka `TransactionStateManager.listTransactionStates`; KIP-664, KIP-994. */
export function answerListTransactions(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'ListTransactions'>,
): ResponseOf<'ListTransactions'> {
  const { stateFilters, producerIdFilters, durationFilter = -1n } = body
  const sinceMs = model.clock.now() - Number(durationFilter)
  const isWanted = ({ state, producerId, startedAtMs, transactionalId }: Transaction) =>
    model.transactionPartition(transactionalId).leader === node.id &&
    (stateFilters.length === 0 || stateFilters.includes(state)) &&
    (producerIdFilters.length === 0 || producerIdFilters.includes(producerId)) &&
    (durationFilter < 0n || (startedAtMs >= 0 && startedAtMs <= sinceMs))
  const listed = model.transactions.all().filter(isWanted)
  return {
    throttleTimeMs: 0,
    errorCode: codes.NONE,
    unknownStateFilters: stateFilters.filter((name) => !stateNames.includes(name)),
    transactionStates: listed.map(({ transactionalId, producerId, state }) => {
      return { transactionalId, producerId, transactionState: state }
    }),
  }
}

export function answerDescribeProducers(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'DescribeProducers'>,
): ResponseOf<'DescribeProducers'> {
  const topics = body.topics.map(({ name, partitionIndexes }) => ({
    name,
    partitions: partitionIndexes.map((partitionIndex) => {
      const served = serving(model, node, name, partitionIndex)
      const isLeader = served.as === 'leader'
      const errorCode = isLeader ? codes.NONE : refusal(served)
      const activeProducers = isLeader ? producersOf(producersIn(model, served.partition)) : []
      return { partitionIndex, errorCode, errorMessage: null, activeProducers }
    }),
  }))
  return { throttleTimeMs: 0, topics }
}

function producersIn(model: ClusterModel, { topic, partition, log }: ModelPartition): ProducerStates {
  return topic === offsetsTopic ? model.groupCoordinator(partition).producers : log.producers
}

function producersOf(producers: ProducerStates) {
  return producers.all().map((entry) => ({
    producerId: entry.producerId,
    producerEpoch: entry.producerEpoch,
    lastSequence: entry.batches.at(-1)?.lastSequence ?? -1,
    lastTimestamp: BigInt(entry.lastTimestampMs),
    coordinatorEpoch: entry.coordinatorEpoch,
    currentTxnStartOffset: entry.transactionFirstOffset ?? -1n,
  }))
}

const refusal = (served: ReturnType<typeof serving>): number =>
  served.as === 'none' ? served.code : codes.NOT_LEADER_OR_FOLLOWER

const sourceOf = ({ topic, partition }: ModelPartition): TopicPartition => ({ topic, partition })
