import type { Deadline } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { FenceRecord } from '../../fencing/fence-record.ts'
import { tpKey } from '../../kafka/record.ts'
import type { LaneId } from '../lane-id.ts'
import type { RelayTopics } from '../relay-topics.ts'
import type { RelayDeployment } from '../runtime.ts'
import { type LaneFacts, offsetsAt, type PartitionFacts, readLaneFacts } from './lane-facts.ts'

/** Where a reset goes to. `latest`: behind what readers see now. A time: to the first record at or after it. */
export type ResetPlace =
  | { readonly to: 'earliest' }
  | { readonly to: 'latest' }
  | { readonly to: 'time'; readonly timestampMs: number }
  /** By partition; every partition of the lanes must be named. */
  | { readonly to: 'offsets'; readonly offsets: ReadonlyMap<number, bigint> }

export interface LaneReset {
  readonly id: LaneId
  readonly record: FenceRecord | null
  readonly moves: readonly PartitionMove[]
}

export interface PartitionMove {
  readonly partition: number
  /** null: the lane has not started, or its position is of another log. */
  readonly from: bigint | null
  readonly to: bigint
  /** Offsets that would never be relayed; the records among them may be fewer. */
  readonly skipped: bigint
  /** Offsets whose records would be relayed once more. */
  readonly repeated: bigint
}

export interface ResetQuestion {
  readonly lanes: readonly LaneId[]
  readonly place: ResetPlace
  /** The operator knows that the source is another log than the one relayed so far. */
  readonly acceptNewSource: boolean
}

/**
 * What a reset would do, lane by lane. Decides nothing and writes nothing.
 * @throws RelayError RESET_REFUSED when a lane could not go on from there
 */
export async function planReset(
  deployment: RelayDeployment,
  topics: RelayTopics,
  { lanes, place, acceptNewSource }: ResetQuestion,
  deadline: Deadline,
): Promise<LaneReset[]> {
  const { lanes: facts } = await readLaneFacts(deployment, topics, lanes, deadline)
  for (const lane of facts) if (!acceptNewSource) assertSameSource(lane, topics)
  const targetOf = await targets(deployment, lanes, place, deadline)
  return facts.map(({ id, record, partitions }) => {
    const isSameLog = sourceChange(record, topics) === null
    const moves = partitions.map((one) => moveOf(id, one, targetOf(id, one), isSameLog))
    return { id, record, moves }
  })
}

type TargetOf = (id: LaneId, partition: PartitionFacts) => bigint

async function targets(
  deployment: RelayDeployment,
  lanes: readonly LaneId[],
  place: ResetPlace,
  deadline: Deadline,
): Promise<TargetOf> {
  if (place.to === 'earliest') return (_, { logStart }) => logStart
  if (place.to === 'latest') return (_, { stableEnd }) => stableEnd
  if (place.to === 'offsets') return (id, { partition }) => place.offsets.get(partition) ?? notNamed(id, partition)
  const question = { at: place.timestampMs, isolation: 'read_committed' } as const
  const found = await offsetsAt(deployment, lanes, question, deadline)
  return ({ topic }, { partition, stableEnd }) => {
    const offset = found.get(tpKey({ topic, partition })) ?? -1n
    return offset < 0n ? stableEnd : offset
  }
}

function moveOf(id: LaneId, facts: PartitionFacts, to: bigint, isSameLog: boolean): PartitionMove {
  const { partition, logStart, logEnd } = facts
  if (to < logStart || to > logEnd) {
    const message = `lane ${id.transactionalId}: partition ${partition} has offsets ${logStart} to ${logEnd}, not ${to}; choose one of them, earliest or latest`
    throw new RelayError('RESET_REFUSED', message, { context: { lane: id.transactionalId, partition } })
  }
  const from = isSameLog ? facts.position : null
  const ahead = from === null ? 0n : to - from
  return { partition, from, to, skipped: ahead > 0n ? ahead : 0n, repeated: ahead < 0n ? -ahead : 0n }
}

function notNamed(id: LaneId, partition: number): never {
  const message = `lane ${id.transactionalId} has partition ${partition}, for which no offset is given: name one for each of its partitions (${id.partitions.join(', ')})`
  throw new RelayError('RESET_REFUSED', message, { context: { lane: id.transactionalId, partition } })
}

function assertSameSource({ id, record }: LaneFacts, topics: RelayTopics): void {
  const change = sourceChange(record, topics)
  if (change === null) return
  const message = `lane ${id.transactionalId}: ${change}. Offsets of the one mean nothing in the other: make sure that this is the source to be relayed from now on, then say so`
  throw new RelayError('RESET_REFUSED', message, { context: { lane: id.transactionalId } })
}

/** Why the source is another log than the one that the record remembers; null: it is the same. */
function sourceChange(record: FenceRecord | null, { clusterId, sourceTopicId }: RelayTopics): string | null {
  if (record?.clusterId && record.clusterId !== clusterId) {
    return `it relayed from cluster ${record.clusterId}, this is cluster ${clusterId}`
  }
  if (record?.sourceTopicId && record.sourceTopicId !== sourceTopicId) {
    return `its source topic had the id ${record.sourceTopicId} and has the id ${sourceTopicId} now: it was made anew`
  }
  return null
}
