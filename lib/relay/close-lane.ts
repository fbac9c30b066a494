import type { Deadline } from '../clock.ts'
import type { RelayError } from '../errors.ts'
import type { Ending } from '../fencing/fence.ts'
import type { OpenLane } from './lane.ts'

/**
 * Step 12: frees the lane and leaves session, position and connections warm in the container. A stop is written before
 * it may be answered with success (R12); a lane that a newer owner holds is left alone.
 *
 * @throws RelayError of the fence store when a stop could not be recorded
 */
export async function closeLane(lane: OpenLane, failure: RelayError | null, deadline: Deadline): Promise<void> {
  const { fence, id, runtime } = lane
  if (failure?.disposition === 'stand-down') return
  const ending = endingOf(lane, failure)
  if (failure?.disposition === 'stop-lane') {
    return fence.stop({ code: failure.code, message: failure.message }, ending, deadline)
  }
  const released = await fence.release(ending, deadline)
  const clean = released.kind === 'ours' && ending.kind === 'settled'
  runtime.observer.laneReleased?.({ lane: id.transactionalId, clean })
  if (released.kind !== 'superseded') keepWarm(lane, clean && failure?.disposition !== 'fix-config')
}

/** Clean only if no outcome is unknown and the positions are sure; otherwise the lease is freed and the record stays dirty (R7). */
function endingOf(lane: OpenLane, failure: RelayError | null): Ending {
  const { outcomeUnknown, confirmed, positions, committedAtMs, session } = lane
  if (outcomeUnknown || !confirmed || failure?.outcome === 'unknown') return { kind: 'unknown' }
  const producer = { id: session.producerId, epoch: session.producerEpoch }
  return { kind: 'settled', committedUntil: positions, committedAtMs, producer }
}

/** Once somebody has changed a topic or a setting, nothing that was learnt before may be gone on with. */
function keepWarm(lane: OpenLane, mayResume: boolean): void {
  const { runtime, id, fence, session, positions } = lane
  const resume = mayResume && session.reusable ? { session, positions } : null
  runtime.warm.set(id.transactionalId, { held: fence.held, resume, recordsInTime: recordsInTimeNext(lane) })
}

/** Twice as many where windows of this size were committed: what was slow may have become quick again. */
const recordsInTimeNext = ({ recordsInTime, commits }: OpenLane): number => recordsInTime * (commits > 0 ? 2 : 1)
