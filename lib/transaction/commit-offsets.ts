import type { Deadline } from '../clock.ts'
import type { TopicPartition } from '../kafka/record.ts'
import type { NodeAddress } from '../kafka/transport.ts'
import { exchange, type Sending } from './exchange.ts'
import { judgeParts } from './judgement.ts'
import type { OffsetToCommit } from './session.ts'

/**
 * TxnOffsetCommit: the offsets become committed together with the transaction. Without member id and generation: the
 * commit group has no members, and the transactional id alone fences (KIP-447).
 *
 * Version 5 joins the group to the transaction by itself and checks the epoch of each transaction (KIP-890).
 * @returns the broker that acknowledged: the group coordinator of this moment, whom step 9 asks
 * @throws RelayError TOPIC_MISSING, NOT_AUTHORIZED, SESSION_FENCED, SESSION_POISONED
 */
export async function commitOffsets(
  sending: Sending,
  group: string,
  transactionalId: string,
  offsets: readonly OffsetToCommit[],
  deadline: Deadline,
): Promise<NodeAddress> {
  const { ledger } = sending
  const request = {
    target: { to: 'group-coordinator', key: group },
    api: 'TxnOffsetCommit',
    body: { transactionalId, groupId: group, ...ledger.identity, topics: topicsOf(offsets) },
    versions: ledger.protocol === 2 ? { minVersion: 5 } : { maxVersion: 4 },
  } as const
  const { node } = await exchange(
    sending,
    request,
    ({ body }) => ({
      ...judgeParts('TxnOffsetCommit', offsets.map(partOf), body.topics.flatMap(answeredOf)),
      group,
    }),
    deadline,
  )
  ledger.accept()
  return node
}

const partOf = ({ topic, partition }: TopicPartition): TopicPartition => ({ topic, partition })

interface AnsweredTopic {
  readonly name: string
  readonly partitions: readonly { readonly partitionIndex: number; readonly errorCode: number }[]
}

const answeredOf = ({ name, partitions }: AnsweredTopic) =>
  partitions.map((part) => ({ topic: name, partition: part.partitionIndex, code: part.errorCode }))

const topicsOf = (offsets: readonly OffsetToCommit[]) =>
  [...Map.groupBy(offsets, ({ topic }) => topic)].map(([name, parts]) => ({
    name,
    partitions: parts.map((part) => ({
      partitionIndex: part.partition,
      committedOffset: part.offset,
      committedLeaderEpoch: part.leaderEpoch,
      committedMetadata: part.metadata,
    })),
  }))
