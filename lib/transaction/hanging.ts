import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { kafkaErrorName } from '../kafka/errors.ts'
import type { TransactionState } from '../kafka/protocol/generated/describe-transactions.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import type { NodeAddress } from '../kafka/transport.ts'
import type { KnownTransaction, OpenProducer } from './judge-producer.ts'

const transactionTopic = '__transaction_state'
const transactionalIdNotFound = 105
const clusterAuthorizationFailed = 31

/** The open transactions of one partition. @throws RelayError BROKER_ERROR, BROKER_UNAVAILABLE; TransportError */
export async function openProducersOf(
  cluster: Cluster,
  { topic, partition }: TopicPartition,
  deadline: Deadline,
): Promise<readonly OpenProducer[]> {
  const request = { topics: [{ name: topic, partitionIndexes: [partition] }] }
  const leader = { to: 'leader', topic, partition } as const
  const { body } = await cluster.request(leader, 'DescribeProducers', request, deadline)
  const described = body.topics.flatMap(({ partitions }) => partitions)
  for (const { errorCode } of described) if (errorCode !== 0) throw refused('DescribeProducers', errorCode)
  return described
    .flatMap(({ activeProducers }) => activeProducers)
    .filter(({ currentTxnStartOffset }) => currentTxnStartOffset >= 0n)
    .map(({ currentTxnStartOffset: startOffset, lastTimestamp, ...producer }) => {
      const { producerId, producerEpoch, coordinatorEpoch, lastSequence } = producer
      const said = { producerId, producerEpoch, coordinatorEpoch, startOffset, lastSequence }
      return { topic, partition, ...said, lastTimestampMs: Number(lastTimestamp) }
    })
}

/**
 * What all coordinators together know of these producer ids. Complete or an error: a coordinator that is silent, still
 * loading or without a leader may know exactly the one that seems unknown. A user who may not describe a transactional id
 * is told nothing of it, without an error (Kafka: KafkaApis.handleListTransactionsRequest): the caller needs Describe on all.
 *
 * @throws RelayError BROKER_UNAVAILABLE, BROKER_ERROR, NOT_AUTHORIZED, TOPIC_MISSING; TransportError
 */
export async function knownTransactions(
  cluster: Cluster,
  producerIds: readonly bigint[],
  deadline: Deadline,
): Promise<readonly KnownTransaction[]> {
  const coordinators = await allCoordinators(cluster, deadline)
  const listed = await Promise.all(coordinators.map((node) => listedBy(cluster, node, producerIds, deadline)))
  return Promise.all(
    listed.flat().map(async ({ transactionalId, producerId }): Promise<KnownTransaction> => {
      const now = await describe(cluster, transactionalId, deadline)
      const partitions = now.topics.flatMap(({ topic, partitions }) =>
        partitions.map((partition) => tpKey({ topic, partition })),
      )
      return {
        transactionalId,
        producerIds: [...new Set([producerId, now.producerId])],
        producerEpoch: now.producerEpoch,
        state: now.transactionState,
        startedAtMs: Number(now.transactionStartTimeMs),
        partitions: new Set(partitions),
      }
    }),
  )
}

/**
 * Ends one transaction in one partition with an abort marker, without its coordinator. Only for one that was judged to hang a
 * moment ago (P9). The marker is final; nothing but this partition is touched.
 *
 * @throws RelayError NOT_AUTHORIZED, BROKER_ERROR: nothing was written; TransportError: perhaps, look again
 */
export async function writeAbortMarker(cluster: Cluster, open: OpenProducer, deadline: Deadline): Promise<void> {
  const { topic, partition, producerId, producerEpoch } = open
  const marker = {
    producerId,
    producerEpoch,
    transactionResult: false,
    topics: [{ name: topic, partitionIndexes: [partition] }],
    coordinatorEpoch: Math.max(0, open.coordinatorEpoch),
  }
  const leader = { to: 'leader', topic, partition } as const
  const { body } = await cluster.request(leader, 'WriteTxnMarkers', { markers: [marker] }, deadline)
  const codes = body.markers.flatMap(({ topics }) => topics).flatMap(({ partitions }) => partitions)
  const failed = codes.find(({ errorCode }) => errorCode !== 0)
  if (failed) throw refused('WriteTxnMarkers', failed.errorCode)
  if (codes.length === 0) throw new RelayError('BROKER_ERROR', `WriteTxnMarkers says nothing of ${tpKey(open)}`)
}

/** The leaders of the transaction log, whom no other broker can speak for. */
async function allCoordinators(cluster: Cluster, deadline: Deadline): Promise<readonly NodeAddress[]> {
  const log = (await cluster.topics([transactionTopic], deadline, 'fresh')).get(transactionTopic)
  if (!log) {
    const message = `${transactionTopic} cannot be seen, so nobody can tell which transactions are known: allow Describe on it`
    throw new RelayError('TOPIC_MISSING', message)
  }
  const leaderless = log.partitions.filter(({ leader }) => leader === null).map(({ partition }) => partition)
  if (leaderless.length > 0) {
    const message = `partition ${leaderless.join(', ')} of ${transactionTopic} has no leader, which may know the transaction: try again when it has`
    throw new RelayError('BROKER_UNAVAILABLE', message)
  }
  const leaders = log.partitions.flatMap(({ leader }) => (leader ? [leader] : []))
  return [...new Map(leaders.map((leader) => [leader.nodeId, leader])).values()]
}

async function listedBy(
  cluster: Cluster,
  node: NodeAddress,
  producerIdFilters: readonly bigint[],
  deadline: Deadline,
): Promise<readonly { readonly transactionalId: string; readonly producerId: bigint }[]> {
  const request = { stateFilters: [], producerIdFilters }
  const { body } = await cluster.request({ to: 'node', node }, 'ListTransactions', request, deadline)
  if (body.errorCode !== 0) throw refused('ListTransactions', body.errorCode)
  return body.transactionStates
}

/** An id that is gone since it was listed has moved on, and knows nothing any more: asked again, it is not listed. */
async function describe(cluster: Cluster, transactionalId: string, deadline: Deadline): Promise<TransactionState> {
  const coordinator = { to: 'transaction-coordinator', key: transactionalId } as const
  const request = { transactionalIds: [transactionalId] }
  const { body } = await cluster.request(coordinator, 'DescribeTransactions', request, deadline)
  const [found] = body.transactionStates
  if (found?.errorCode !== 0) {
    cluster.forget(coordinator)
    throw refused('DescribeTransactions', found?.errorCode ?? transactionalIdNotFound)
  }
  return found
}

function refused(api: string, code: number): RelayError {
  const name = kafkaErrorName(code)
  if (code !== clusterAuthorizationFailed) return new RelayError('BROKER_ERROR', `${api} answered ${name}; try again`)
  return new RelayError('NOT_AUTHORIZED', `${api} answered ${name}: allow this user Alter on the cluster`)
}
