import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { ModelNode } from './node.ts'
import type { ProducerStates } from './producer-state.ts'
import { checkCoordinator, refusal, serving } from './serving.ts'
import { type ModelPartition, offsetsTopic } from './topics.ts'
import type { Transaction } from './transaction-state.ts'

/** What operators see of transactions and producers (KIP-664). */
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
