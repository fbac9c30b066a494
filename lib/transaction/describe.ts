import type { Deadline } from '../clock.ts'
import { describeBrokerConfigs } from '../kafka/broker-configs.ts'
import type { Cluster } from '../kafka/cluster.ts'
import type { NodeAddress } from '../kafka/transport.ts'
import { minutes } from '../units.ts'

const TIMEOUT_MAX = 'transaction.max.timeout.ms'

/** The broker's bound for transaction timeouts in ms; null when it does not answer or this user may not ask. */
export async function brokerTimeoutMaxMs(
  cluster: Cluster,
  node: NodeAddress,
  deadline: Deadline,
): Promise<number | null> {
  const value = (await describeBrokerConfigs(cluster, node, [TIMEOUT_MAX], deadline)).get(TIMEOUT_MAX)
  return value ? Number(value) : null
}

/** Kafka's default, where brokers do not tell theirs. */
const timeoutMaxDefaultMs = minutes(15)

/** Older than this no transaction can be that its coordinator knows of. @throws RelayError BROKER_UNAVAILABLE */
export async function longestTimeoutMs(cluster: Cluster, deadline: Deadline): Promise<number> {
  const brokers = await cluster.brokers(deadline)
  const told = await Promise.all(brokers.map((node) => brokerTimeoutMaxMs(cluster, node, deadline)))
  return told.length === 0 ? timeoutMaxDefaultMs : Math.max(...told.map((ms) => ms ?? timeoutMaxDefaultMs))
}

export interface OpenTransaction {
  /** As the coordinator names it: Ongoing, PrepareCommit, PrepareAbort, ... */
  readonly state: string
  readonly producerId: string
  readonly producerEpoch: number
  /** By the coordinator's clock; -1 when none is open. */
  readonly startedAtMs: number
  /** `topic-partition`; those whose markers are not written yet. */
  readonly partitions: readonly string[]
  readonly summary: string
}

/** What the coordinator says about the transaction of an id; null when it does not answer. */
export async function openTransactionOf(
  cluster: Cluster,
  transactionalId: string,
  deadline: Deadline,
): Promise<OpenTransaction | null> {
  try {
    const target = { to: 'transaction-coordinator', key: transactionalId } as const
    const request = { transactionalIds: [transactionalId] }
    const { body } = await cluster.request(target, 'DescribeTransactions', request, deadline)
    const found = body.transactionStates.find((each) => each.transactionalId === transactionalId)
    if (found === undefined || found.errorCode !== 0) return null
    const partitions = found.topics.flatMap(({ topic, partitions }) => partitions.map((part) => `${topic}-${part}`))
    const where = partitions.length > 0 ? partitions.join(', ') : 'no partition'
    const summary = `state ${found.transactionState}, producer ${found.producerId} epoch ${found.producerEpoch}, open on ${where}`
    const { producerEpoch, transactionState: state } = found
    const startedAtMs = Number(found.transactionStartTimeMs)
    return { state, producerId: String(found.producerId), producerEpoch, startedAtMs, partitions, summary }
  } catch {
    return null // only makes a message better
  }
}
