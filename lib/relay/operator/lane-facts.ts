import type { Deadline } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { FenceRecord } from '../../fencing/fence-record.ts'
import type { FenceListing } from '../../fencing/fence-store.ts'
import { type CommittedAnswer, fetchCommitted } from '../../kafka/committed.ts'
import { type ListOffsetsQuestion, listOffsets } from '../../kafka/offsets.ts'
import { tpKey } from '../../kafka/record.ts'
import { parseCommitMetadata } from '../commit-metadata.ts'
import { type LaneId, topicPartitions } from '../lane-id.ts'
import type { RelayTopics } from '../relay-topics.ts'
import type { RelayDeployment } from '../runtime.ts'

/** What can be known of lanes without opening them: may be a moment old, and is for people, not for decisions. */
export interface LaneFacts {
  readonly id: LaneId
  readonly record: FenceRecord | null
  readonly partitions: readonly PartitionFacts[]
}

export interface PartitionFacts {
  readonly partition: number
  /** Next offset to read; null: the lane has not started, or nobody can tell. */
  readonly position: bigint | null
  /** False: the offset in the commit group is not of this lane and log, or it is gone although the record has one. */
  readonly offsetIsOurs: boolean
  readonly logStart: bigint
  /** As far as read_committed readers see. */
  readonly stableEnd: bigint
  readonly logEnd: bigint
}

export interface FactsRead {
  readonly lanes: readonly LaneFacts[]
  /** Fence records that this version cannot read. */
  readonly unreadable: FenceListing['unreadable']
}

/** @throws RelayError of the fence store; of the broker, when it will not tell an offset */
export async function readLaneFacts(
  deployment: RelayDeployment,
  topics: RelayTopics,
  lanes: readonly LaneId[],
  deadline: Deadline,
): Promise<FactsRead> {
  const { relay, settings, fences, cluster } = deployment
  const places = lanes.flatMap(topicPartitions)
  const group = lanes[0]?.group ?? ''
  const bound = (question: ListOffsetsQuestion) => offsetsAt(deployment, lanes, question, deadline)
  const [{ records, unreadable }, committed, starts, stableEnds, logEnds] = await Promise.all([
    fences.list(`${settings.prefix}.${relay.name}.`, deadline),
    fetchCommitted(cluster, { group, partitions: places, requireStable: false }, deadline),
    bound({ at: 'earliest', isolation: 'read_uncommitted' }),
    bound({ at: 'latest', isolation: 'read_committed' }),
    bound({ at: 'latest', isolation: 'read_uncommitted' }),
  ])
  const recordOf = new Map(records.map((record) => [record.id, record]))
  const committedOf = new Map(committed.map((answer) => [tpKey(answer), answer]))
  const factsOf = (id: LaneId): LaneFacts => {
    const record = recordOf.get(id.transactionalId) ?? null
    const partitions = topicPartitions(id).map((place) => {
      const key = tpKey(place)
      const [logStart = 0n, stableEnd = 0n, logEnd = 0n] = [starts, stableEnds, logEnds].map((map) => map.get(key))
      const position = positionOf(id, record, topics, place.partition, committedOf.get(key))
      return { partition: place.partition, ...position, logStart, stableEnd, logEnd }
    })
    return { id, record, partitions }
  }
  return { lanes: lanes.map(factsOf), unreadable }
}

/** By partition key. @throws RelayError BROKER_ERROR naming the first partition that nothing is known of */
export async function offsetsAt(
  { cluster }: RelayDeployment,
  lanes: readonly LaneId[],
  question: ListOffsetsQuestion,
  deadline: Deadline,
): Promise<ReadonlyMap<string, bigint>> {
  const answers = await listOffsets(cluster, lanes.flatMap(topicPartitions), question, deadline)
  return new Map(
    answers.map((answer): [string, bigint] => {
      if ('offset' in answer) return [tpKey(answer), answer.offset]
      const message = `the ${question.at} offset of ${tpKey(answer)} is not known now: ${answer.error.message}`
      throw new RelayError('BROKER_ERROR', message, { cause: answer.error })
    }),
  )
}

/** The committed offset if it says that it is ours, else what the fence record remembers. */
function positionOf(
  { transactionalId }: LaneId,
  record: FenceRecord | null,
  { sourceTopicId }: RelayTopics,
  partition: number,
  answer: CommittedAnswer | undefined,
): Pick<PartitionFacts, 'position' | 'offsetIsOurs'> {
  if (!answer || !('offset' in answer)) throw notTold(answer)
  const remembered = record?.committedUntil.get(partition) ?? null
  if (answer.offset === null) return { position: remembered, offsetIsOurs: remembered === null }
  const metadata = parseCommitMetadata(answer.metadata)
  const isOfLane = metadata?.id === transactionalId && metadata.topicId === sourceTopicId
  const isOurs = isOfLane && (record === null || remembered === null || metadata.lineage === record.lineage)
  return { position: isOurs ? answer.offset : remembered, offsetIsOurs: isOurs }
}

function notTold(answer: CommittedAnswer | undefined): RelayError {
  const cause = answer && 'error' in answer ? answer.error : undefined
  const message = `the committed offset of ${answer ? tpKey(answer) : 'a partition'} is not known now`
  return new RelayError('BROKER_ERROR', cause ? `${message}: ${cause.message}` : message, { cause })
}
