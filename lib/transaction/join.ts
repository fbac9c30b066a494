import type { Deadline } from '../clock.ts'
import type { Cluster, Target } from '../kafka/cluster.ts'
import type { TopicPartition } from '../kafka/record.ts'
import { exchange, type Sending } from './exchange.ts'
import { allSettled } from './gravest.ts'
import { judgeCode, judgeParts } from './judgement.ts'

/** The partitions and the group that a transaction will touch. */
export interface Joins {
  readonly transactionalId: string
  readonly group: string
  readonly partitions: readonly TopicPartition[]
}

/**
 * Whether brokers may join partitions by themselves, as Produce 12 and TxnOffsetCommit 5 do. Only when one broker plays
 * every part: over several, the implicit joins collide at the coordinator (3 nodes: 78-93 ms a window against 23-27 ms
 * with explicit joins); on one, they save two round trips.
 */
export async function onOneBroker(cluster: Cluster, joins: Joins, deadline: Deadline): Promise<boolean> {
  const targets: Target[] = [
    { to: 'transaction-coordinator', key: joins.transactionalId },
    { to: 'group-coordinator', key: joins.group },
    ...joins.partitions.map(({ topic, partition }) => ({ to: 'leader', topic, partition }) as const),
  ]
  const nodes = await Promise.all(targets.map((target) => cluster.locate(target, deadline)))
  return new Set(nodes.map((node) => node.nodeId)).size === 1
}

/**
 * AddPartitionsToTxn 3 and AddOffsetsToTxn. Both go to one broker over one connection, which it serves in order, so
 * that sending them at once saves a round trip and they do not meet at the coordinator.
 * Version 3 of the former: 4 and 5 are for brokers only and want CLUSTER_ACTION.
 * @throws RelayError TOPIC_MISSING, NOT_AUTHORIZED, SESSION_FENCED, SESSION_POISONED
 */
export async function join(sending: Sending, joins: Joins, deadline: Deadline): Promise<void> {
  const { partitions, group } = joins
  const partitionsJoined = partitions.length > 0 ? [addPartitions(sending, joins, deadline)] : []
  await allSettled([...partitionsJoined, addOffsets(sending, group, joins.transactionalId, deadline)])
}

async function addPartitions(sending: Sending, { transactionalId, partitions }: Joins, deadline: Deadline) {
  const { producerId, producerEpoch } = sending.ledger.identity
  const topics = [...Map.groupBy(partitions, ({ topic }) => topic)].map(([name, parts]) => ({
    name,
    partitions: parts.map((part) => part.partition),
  }))
  const request = {
    target: { to: 'transaction-coordinator', key: transactionalId },
    api: 'AddPartitionsToTxn',
    body: {
      v3AndBelowTransactionalId: transactionalId,
      v3AndBelowProducerId: producerId,
      v3AndBelowProducerEpoch: producerEpoch,
      v3AndBelowTopics: topics,
    },
    versions: { maxVersion: 3 },
  } as const
  await exchange(
    sending,
    request,
    ({ body }) => {
      const answered = body.resultsByTopicV3AndBelow.flatMap(({ name, resultsByPartition }) =>
        resultsByPartition.map((part) => ({
          topic: name,
          partition: part.partitionIndex,
          code: part.partitionErrorCode,
        })),
      )
      return judgeParts('AddPartitionsToTxn', partitions, answered)
    },
    deadline,
  )
  sending.ledger.accept()
}

/** The group's partition of `__consumer_offsets` joins the transaction. */
export async function addOffsets(sending: Sending, group: string, transactionalId: string, deadline: Deadline) {
  const request = {
    target: { to: 'transaction-coordinator', key: transactionalId },
    api: 'AddOffsetsToTxn',
    body: { transactionalId, ...sending.ledger.identity, groupId: group },
  } as const
  await exchange(sending, request, ({ body }) => ({ ...judgeCode('AddOffsetsToTxn', body.errorCode), group }), deadline)
  sending.ledger.accept()
}
