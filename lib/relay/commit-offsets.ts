import type { Deadline } from '../clock.ts'
import type { FenceHandle } from '../fencing/fence.ts'
import type { OffsetToCommit, TransactionSession } from '../transaction/session.ts'
import { formatCommitMetadata } from './commit-metadata.ts'
import type { LaneId } from './lane-id.ts'
import type { RelayTopics } from './relay-topics.ts'

/** Who commits, and from which positions: what a committed offset says of its provenance. */
export interface Committer {
  readonly id: LaneId
  readonly topics: RelayTopics
  readonly fence: FenceHandle
  readonly session: TransactionSession
  readonly positions: ReadonlyMap<number, bigint>
}

/** Every transaction commits the offsets of all the lane's partitions, so that none expires alone (P11). */
export function offsetsToCommit(committer: Committer, until: ReadonlyMap<number, bigint>): OffsetToCommit[] {
  const { id, topics, fence, positions } = committer
  const { lineage, token } = fence.record
  return [...until].map(([partition, offset]) => ({
    topic: id.topic,
    partition,
    offset,
    leaderEpoch: -1,
    metadata: formatCommitMetadata({
      lineage,
      id: id.transactionalId,
      topicId: topics.sourceTopicId,
      clusterId: topics.clusterId,
      token,
      from: positions.get(partition) ?? offset,
    }),
  }))
}

/** A transaction that holds nothing but the lane's offsets. @throws RelayError as `TransactionSession.commit` */
export async function commitOffsetsOnly(
  committer: Committer,
  until: ReadonlyMap<number, bigint>,
  deadline: Deadline,
): Promise<void> {
  const { session } = committer
  await session.begin([], deadline)
  await session.sendOffsets(offsetsToCommit(committer, until), deadline)
  await session.commit(deadline)
}
