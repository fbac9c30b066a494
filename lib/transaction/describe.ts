import type { Deadline } from '../clock.ts'
import type { Cluster } from '../kafka/cluster.ts'
import type { NodeAddress } from '../kafka/transport.ts'

const BROKER_RESOURCE = 4
const TIMEOUT_MAX = 'transaction.max.timeout.ms'

/** The broker's bound for transaction timeouts in ms; null when it does not answer or this user may not ask. */
export async function brokerTimeoutMaxMs(
  cluster: Cluster,
  node: NodeAddress,
  deadline: Deadline,
): Promise<number | null> {
  const resource = {
    resourceType: BROKER_RESOURCE,
    resourceName: String(node.nodeId),
    configurationKeys: [TIMEOUT_MAX],
  }
  try {
    const { body } = await cluster.request({ to: 'node', node }, 'DescribeConfigs', { resources: [resource] }, deadline)
    const value = body.results.flatMap(({ configs }) => configs).find(({ name }) => name === TIMEOUT_MAX)?.value
    return value ? Number(value) : null
  } catch {
    return null // only makes a message better: that a broker keeps its bound to itself must not hide the refusal
  }
}

export interface OpenTransaction {
  /** As the coordinator names it: Ongoing, PrepareCommit, PrepareAbort, ... */
  readonly state: string
  readonly producerId: string
  readonly producerEpoch: number
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
    return { state, producerId: String(found.producerId), producerEpoch, partitions, summary }
  } catch {
    return null // only makes a message better
  }
}
