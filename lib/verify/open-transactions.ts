import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { kafkaErrorName } from '../kafka/errors.ts'
import type { TransactionState } from '../kafka/protocol/generated/describe-transactions.ts'
import { tpKey } from '../kafka/record.ts'
import type { OpenTransaction } from './history.ts'

/** States in which a transaction still holds readers back (Kafka: TransactionState.java). */
const unfinished = new Set(['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'])

const notFound = 105 // TRANSACTIONAL_ID_NOT_FOUND: never used, or forgotten after a week
const moved = new Set([14, 15, 16])
const pauseMs = 100

/** Which of the relay's transactional ids have an unfinished transaction. @throws RelayError, TransportError */
export async function openTransactionsOf(
  cluster: Cluster,
  transactionalIds: readonly string[],
  deadline: Deadline,
): Promise<readonly OpenTransaction[]> {
  const states = await Promise.all(transactionalIds.map((id) => describe(cluster, id, deadline)))
  return states.flatMap((state) => (state && unfinished.has(state.transactionState) ? [asOpen(state)] : []))
}

async function describe(cluster: Cluster, id: string, deadline: Deadline): Promise<TransactionState | null> {
  const coordinator = { to: 'transaction-coordinator', key: id } as const
  for (;;) {
    const request = { transactionalIds: [id] }
    const { body } = await cluster.request(coordinator, 'DescribeTransactions', request, deadline)
    const found = body.transactionStates.find(({ transactionalId }) => transactionalId === id)
    const code = found?.errorCode ?? notFound
    if (code === notFound) return null
    if (code === 0) return found ?? null
    if (!moved.has(code) || deadline.remainingMs() <= pauseMs) throw refused(id, code)
    cluster.forget(coordinator)
    await cluster.clock.sleep(pauseMs)
  }
}

function asOpen(state: TransactionState): OpenTransaction {
  const { transactionalId, transactionState, producerId, producerEpoch, transactionStartTimeMs, topics } = state
  return {
    transactionalId,
    state: transactionState,
    producerId,
    producerEpoch,
    startedAtMs: Number(transactionStartTimeMs),
    partitions: topics.flatMap(({ topic, partitions }) => partitions.map((partition) => tpKey({ topic, partition }))),
  }
}

function refused(id: string, code: number): RelayError {
  return new RelayError('BROKER_ERROR', `DescribeTransactions of ${id} was answered with ${kafkaErrorName(code)}`, {
    context: { transactionalId: id, code },
  })
}

/** Those that were open before and still are: one that is merely under way is replaced by the next. */
export function stillOpen(before: readonly OpenTransaction[], now: readonly OpenTransaction[]): OpenTransaction[] {
  const same = (one: OpenTransaction, other: OpenTransaction) =>
    one.transactionalId === other.transactionalId &&
    one.producerId === other.producerId &&
    one.startedAtMs === other.startedAtMs
  return now.filter((one) => before.some((other) => same(one, other)))
}
