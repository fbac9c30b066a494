import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Cluster, Target } from '../kafka/cluster.ts'
import { kafkaErrorName } from '../kafka/errors.ts'
import type { TransactionState } from '../kafka/protocol/generated/describe-transactions.ts'
import { silenceOf } from '../kafka/read-errors.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import type { NodeAddress } from '../kafka/transport.ts'
import type { HoldingProducer, OpenTransaction } from './history.ts'

/** What the coordinator knows of one transactional id. */
export interface KnownTransaction {
  readonly transactionalId: string
  readonly producerId: bigint
  /** Null when its last transaction is finished. */
  readonly open: OpenTransaction | null
}

const unfinished = new Set(['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'])
/** The id was never used, or was forgotten after a week: TRANSACTIONAL_ID_NOT_FOUND. */
const unknownId = 105
/** The coordinator is loading, starting, or another broker; the leader is another broker. */
const elsewhere = new Set([14, 15, 16, 6])
const pauseMs = 100

/**
 * What the coordinators know (KIP-664) of the lanes' ids, and of ids that begin with `prefix` and have an unfinished
 * transaction: lanes that there were before. Ids that nobody knows are left out.
 * @throws RelayError NOT_AUTHORIZED, BROKER_UNAVAILABLE, BROKER_ERROR
 */
export async function describeTransactions(
  cluster: Cluster,
  lanes: readonly string[],
  prefix: string,
  deadline: Deadline,
): Promise<readonly KnownTransaction[]> {
  const brokers = await cluster.brokers(deadline)
  const unfinishedIds = await Promise.all(brokers.map((node) => listUnfinished(cluster, node, deadline)))
  const ids = new Set([...lanes, ...unfinishedIds.flat().filter((id) => id.startsWith(prefix))])
  const known = await Promise.all([...ids].map((id) => describeOne(cluster, id, deadline)))
  return known.filter((one) => one !== null)
}

/** Of every id whose coordinator the broker is, as far as this user may describe it. */
async function listUnfinished(cluster: Cluster, node: NodeAddress, deadline: Deadline): Promise<string[]> {
  const target = { to: 'node', node } as const
  const request = { stateFilters: ['Ongoing', 'PrepareCommit', 'PrepareAbort'], producerIdFilters: [] }
  return untilTold(cluster, target, deadline, `ListTransactions of broker ${node.nodeId}`, async () => {
    const { body } = await cluster.request(target, 'ListTransactions', request, deadline)
    return { code: body.errorCode, value: body.transactionStates.map(({ transactionalId }) => transactionalId) }
  })
}

async function describeOne(cluster: Cluster, id: string, deadline: Deadline): Promise<KnownTransaction | null> {
  const target = { to: 'transaction-coordinator', key: id } as const
  return untilTold(cluster, target, deadline, `DescribeTransactions of ${id}`, async () => {
    const request = { transactionalIds: [id] }
    const { body } = await cluster.request(target, 'DescribeTransactions', request, deadline)
    const found = body.transactionStates.find(({ transactionalId }) => transactionalId === id)
    if (found === undefined || found.errorCode === unknownId) return { code: 0, value: null }
    return { code: found.errorCode, value: asKnown(found) }
  })
}

function asKnown(state: TransactionState): KnownTransaction {
  const { transactionalId, transactionState, producerId, producerEpoch, transactionStartTimeMs, topics } = state
  const open = {
    transactionalId,
    state: transactionState,
    producerId,
    producerEpoch,
    startedAtMs: Number(transactionStartTimeMs),
    partitions: topics.flatMap(({ topic, partitions }) => partitions.map((partition) => tpKey({ topic, partition }))),
  }
  return { transactionalId, producerId, open: unfinished.has(transactionState) ? open : null }
}

/** The producers with an open transaction in a partition, as its leader knows them: hanging ones have no coordinator. */
export async function holdingProducers(
  cluster: Cluster,
  { topic, partition }: TopicPartition,
  deadline: Deadline,
): Promise<readonly HoldingProducer[]> {
  const target = { to: 'leader', topic, partition } as const
  const name = tpKey({ topic, partition })
  return untilTold(cluster, target, deadline, `DescribeProducers of ${name}`, async () => {
    const request = { topics: [{ name: topic, partitionIndexes: [partition] }] }
    const { body } = await cluster.request(target, 'DescribeProducers', request, deadline)
    const found = body.topics[0]?.partitions[0]
    const holding = found?.activeProducers.filter(({ currentTxnStartOffset }) => currentTxnStartOffset >= 0n) ?? []
    const value = holding.map(({ producerId, producerEpoch, currentTxnStartOffset: fromOffset }) => ({
      producerId,
      producerEpoch,
      fromOffset,
    }))
    return { code: found?.errorCode ?? 0, value }
  })
}

/** Those that were unfinished before and are the same ones now: one that is merely under way is followed by others. */
export function stillOpen(
  before: readonly KnownTransaction[],
  now: readonly KnownTransaction[],
): readonly OpenTransaction[] {
  const then = before.flatMap(({ open }) => open ?? [])
  return now
    .flatMap(({ open }) => open ?? [])
    .filter(({ transactionalId, producerId, startedAtMs }) =>
      then.some(
        (one) =>
          one.transactionalId === transactionalId && one.producerId === producerId && one.startedAtMs === startedAtMs,
      ),
    )
}

const deniedCodes = new Set([29, 31, 53])

async function untilTold<T>(
  cluster: Cluster,
  target: Target,
  deadline: Deadline,
  what: string,
  ask: () => Promise<{ readonly code: number; readonly value: T }>,
): Promise<T> {
  for (;;) {
    try {
      const { code, value } = await ask()
      if (code === 0) return value
      if (!elsewhere.has(code) || deadline.remainingMs() <= pauseMs) throw refused(what, code)
      cluster.forget(target)
    } catch (error) {
      const { again, result } = silenceOf('FindCoordinator', error)
      if (!again || deadline.remainingMs() <= pauseMs) throw result
    }
    await cluster.clock.sleep(pauseMs)
  }
}

function refused(what: string, code: number): RelayError {
  const name = kafkaErrorName(code)
  return deniedCodes.has(code)
    ? new RelayError('NOT_AUTHORIZED', `${what} was answered with ${name}: grant this user to describe it`)
    : new RelayError('BROKER_ERROR', `${what} was answered with ${name}`, { context: { code } })
}
