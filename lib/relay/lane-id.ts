import { type ErrorDetails, RelayError } from '../errors.ts'
import { commitGroup, transactionalId } from '../transaction/ids.ts'

/** The unit of order, fencing and concurrency: a fixed set of a source topic's partitions under one transactional id. */
export interface LaneId {
  readonly relay: string
  readonly topic: string
  readonly lane: number
  /** Ascending. */
  readonly partitions: readonly number[]
  readonly transactionalId: string
  readonly group: string
}

export interface LaneNaming {
  readonly prefix: string
  readonly relay: string
  readonly topic: string
  readonly partitionsPerLane: number
}

/**
 * The lane that owns `partition`. Lane n owns partitions [n*k, (n+1)*k) that exist: a set never changes hands, so a
 * partition that is added later joins the last lane or opens a new one, and no partition ever has two lanes.
 */
export function laneOf(partition: number, partitionCount: number, naming: LaneNaming): LaneId {
  const lane = Math.floor(partition / naming.partitionsPerLane)
  const first = lane * naming.partitionsPerLane
  const last = Math.min(first + naming.partitionsPerLane, partitionCount)
  return {
    relay: naming.relay,
    topic: naming.topic,
    lane,
    partitions: Array.from({ length: last - first }, (_, index) => first + index),
    transactionalId: transactionalId(naming.prefix, naming.relay, naming.topic, lane),
    group: commitGroup(naming.prefix, naming.relay),
  }
}

/** Every lane that has at least one of `partitions`, in order. */
export function lanesOf(partitions: Iterable<number>, partitionCount: number, naming: LaneNaming): LaneId[] {
  const lanes = new Map<number, LaneId>()
  for (const partition of partitions) {
    const lane = laneOf(partition, partitionCount, naming)
    lanes.set(lane.lane, lane)
  }
  return [...lanes.values()].sort((a, b) => a.lane - b.lane)
}

export const superseded = (id: LaneId, details: ErrorDetails = {}): RelayError =>
  new RelayError('FENCE_SUPERSEDED', `lane ${id.transactionalId}: a newer owner holds it`, details)

/** R14: another deployment has had the lane, or ours was withdrawn. Nobody need hold it now. */
export const outranked = (id: LaneId): RelayError => {
  const message = `lane ${id.transactionalId}: a newer deployment has had it, or this one was withdrawn`
  return new RelayError('FENCE_SUPERSEDED', message, { context: { lane: id.transactionalId, outranked: true } })
}

export const isOutranked = (error: RelayError): boolean => error.context.outranked === true

export const topicPartitions = ({ topic, partitions }: LaneId): { topic: string; partition: number }[] =>
  partitions.map((partition) => ({ topic, partition }))
