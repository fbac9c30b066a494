import { RelayError } from '../errors.ts'
import { listOffsets } from '../kafka/offsets.ts'
import type { OpenLane } from './lane.ts'
import { topicPartitions } from './lane-id.ts'
import type { Targets } from './window.ts'

/** Last stable offset per partition, now. */
export function stableEnds(lane: OpenLane): Promise<Targets> {
  return offsets(lane, 'latest', 'read_committed')
}

/** High watermark per partition, now: the end of what any reader can see. */
export function logEnds(lane: OpenLane): Promise<Targets> {
  return offsets(lane, 'latest', 'read_uncommitted')
}

/**
 * Is the position in the log at all? A leader that was replaced may answer from an old log, so a stop is decided only
 * by ListOffsets with the leader epoch, after fresh metadata from another broker, and seen twice (R8).
 *
 * @throws RelayError SOURCE_TRUNCATED, SOURCE_REPLACED
 */
export async function assertInLog(lane: OpenLane): Promise<void> {
  const once = await outside(lane)
  const twice = once && (await outside(lane))
  if (twice) throw twice
}

async function outside(lane: OpenLane): Promise<RelayError | null> {
  const { cluster, relay } = lane.runtime
  const topics = await cluster.topics([relay.sourceTopic], lane.deadline, 'fresh')
  const topicId = topics.get(relay.sourceTopic)?.topicId
  if (topicId !== lane.topics.sourceTopicId)
    return replaced(lane, `its id was ${lane.topics.sourceTopicId}, now ${topicId}`)
  const [starts, ends] = await Promise.all([offsets(lane, 'earliest', 'read_uncommitted'), logEnds(lane)])
  for (const [partition, position] of lane.positions) {
    const start = starts.get(partition) ?? 0n
    const end = ends.get(partition) ?? position
    if (position < start) return truncated(lane, partition, position, start)
    if (position > end) return replaced(lane, `partition ${partition} ends at ${end}, below the committed ${position}`)
  }
  return null
}

async function offsets(
  { runtime, id, deadline }: OpenLane,
  at: 'earliest' | 'latest',
  isolation: 'read_committed' | 'read_uncommitted',
): Promise<Targets> {
  const answers = await listOffsets(runtime.cluster, topicPartitions(id), { at, isolation }, deadline)
  return new Map(
    answers.map((answer): [number, bigint] => {
      if ('offset' in answer) return [answer.partition, answer.offset]
      throw new RelayError(
        'BROKER_ERROR',
        `${id.topic} partition ${answer.partition}: ${at} offset is not known now; try again`,
        {
          cause: answer.error,
        },
      )
    }),
  )
}

function truncated(lane: OpenLane, partition: number, position: bigint, start: bigint): RelayError {
  const lost = start - position
  return new RelayError(
    'SOURCE_TRUNCATED',
    `lane ${lane.id.transactionalId}: partition ${partition} begins at ${start}, the lane is at ${position}: up to ${lost} records were deleted before they were relayed. Raise the source's retention; reset the lane to ${start} to go on without them`,
    {
      context: { lane: lane.id.transactionalId, partition, position: position.toString(), logStart: start.toString() },
    },
  )
}

function replaced(lane: OpenLane, why: string): RelayError {
  return new RelayError(
    'SOURCE_REPLACED',
    `lane ${lane.id.transactionalId}: the source '${lane.id.topic}' is not the log that was relayed so far: ${why}. Reset the lane to relay the new one`,
    { context: { lane: lane.id.transactionalId } },
  )
}
