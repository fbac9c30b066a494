import { RelayError } from '../errors.ts'
import { ringsFor } from './bell.ts'
import { sourceBlocked } from './blocked.ts'
import type { OpenLane } from './lane.ts'
import type { LaneId } from './lane-id.ts'
import { assertInLog, logEnds, stableEnds } from './log-bounds.ts'
import { recover, renewSession } from './recover.ts'
import { relayWindow, type Targets } from './window.ts'

/** Windows that found nothing below a target that the log had promised: a replica behind, or a coordinator that lied. */
const idleWindowsMax = 5
const idlePauseMs = 20

/**
 * Relays window after window until the lane has reached its targets: the last stable offsets seen at open (R13). Then
 * whatever the bell rang for beyond them; a lingering pull tails until its time is up.
 *
 * @throws RelayError OUT_OF_TIME, SOURCE_BLOCKED, and everything that ends the lane's work
 */
export async function drainLane(lane: OpenLane, first: Targets, lost: AbortSignal): Promise<void> {
  if (isBehind(first, lane.positions)) await assertInLog(lane)
  let targets: Targets | null = isBlind(lane, first) ? await stableEnds(lane) : first
  while (targets) {
    await drainTo(lane, targets, lost)
    targets = await furtherTargets(lane, lost)
  }
}

/** A pull asks for all that there is, so it must know how much that is. An event says itself how far it wants to come. */
const isBlind = ({ bell, positions }: OpenLane, targets: Targets): boolean =>
  bell.kind === 'pull' && [...positions.keys()].some((partition) => !targets.has(partition))

async function drainTo(lane: OpenLane, targets: Targets, lost: AbortSignal): Promise<void> {
  let idle = 0
  while (isBehind(lane.positions, targets)) {
    if (lost.aborted) throw lost.reason
    assertTimeForWindow(lane)
    if (!lane.session.reusable) await renewSession(lane)
    const moved = await relayWindow(lane, targets).catch(async (error) => {
      if (isOutOfRange(error)) await assertInLog(lane)
      await recover(lane, error)
      return true
    })
    idle = moved ? 0 : idle + 1
    if (idle > 0) await lane.runtime.clock.sleep(idlePauseMs * idle)
    if (idle === idleWindowsMax) throw unreadable(lane, targets)
  }
}

/** Whether any partition of `positions` is below its target; partitions without one have nowhere to go. */
const isBehind = (positions: Targets, targets: Targets): boolean =>
  [...positions].some(([partition, position]) => position < (targets.get(partition) ?? position))

const isOutOfRange = (error: unknown): boolean => error instanceof RelayError && error.code === 'OFFSET_OUT_OF_RANGE'

/** R10: a window starts only if what the dearest one took so far, and the reserve, fit before the deadline. */
function assertTimeForWindow({ deadline, windowMsMax, runtime, id }: OpenLane): void {
  if (runtime.stopping?.aborted) throw stopped(id)
  const neededMs = windowMsMax + runtime.settings.commitReserveMs
  const leftMs = deadline.remainingMs()
  if (leftMs > neededMs) return
  const message = `lane ${id.transactionalId}: ${leftMs} ms are left, a window and its commit need ${neededMs} ms`
  throw new RelayError('OUT_OF_TIME', `${message}; the next ring goes on from the committed position`)
}

const stopped = ({ transactionalId }: LaneId): RelayError =>
  new RelayError('OUT_OF_TIME', `lane ${transactionalId}: this process is ending; whoever is next goes on from here`)

/** Where the lane still has to go after its targets; null: it is done. */
async function furtherTargets(lane: OpenLane, lost: AbortSignal): Promise<Targets | null> {
  const { bell, positions } = lane
  if (bell.kind === 'pull') return bell.lingerUntilMs === null ? null : linger(lane, bell.lingerUntilMs, lost)
  const short = [...positions].filter(
    ([partition, position]) => position <= (ringsFor(bell, partition)?.lastOffset ?? -1n),
  )
  if (short.length === 0) return null
  const ends = await stableEnds(lane)
  if (isBehind(positions, ends)) return ends
  await assertInLog(lane)
  throw (
    (await beyondLog(lane)) ??
    (await sourceBlocked(lane.runtime, lane.id, 'the event lies above', short, lane.deadline))
  )
}

/** R13: a lingering lane's windows are at least `commitEveryMs` apart; the transactions cost the broker, not the records. */
async function linger(lane: OpenLane, untilMs: number, lost: AbortSignal): Promise<Targets | null> {
  const { clock, relay, settings, stopping } = lane.runtime
  const wake = stopping ? AbortSignal.any([lost, stopping]) : lost
  for (;;) {
    const endMs = Math.min(untilMs, lane.deadline.atMs - settings.commitReserveMs - lane.windowMsMax)
    if (clock.now() + relay.commitEveryMs >= endMs) return null
    await clock.sleep(relay.commitEveryMs, wake).catch(() => undefined)
    if (lost.aborted) throw lost.reason
    if (stopping?.aborted) return null
    const ends = await stableEnds(lane)
    if (isBehind(lane.positions, ends)) return ends
  }
}

/** An event may name offsets that the log does not have: it is of another cluster, or of a topic since made anew. */
async function beyondLog(lane: OpenLane): Promise<RelayError | null> {
  const ends = await logEnds(lane)
  const beyond = [...ends].find(([partition, end]) => (ringsFor(lane.bell, partition)?.lastOffset ?? -1n) >= end)
  if (!beyond) return null
  const [partition, end] = beyond
  const message = `the event names offset ${ringsFor(lane.bell, partition)?.lastOffset} of ${lane.id.topic} partition ${partition}, whose log ends at ${end}`
  return new RelayError('EVENT_INVALID', `${message}: is the trigger connected to another cluster?`)
}

function unreadable(lane: OpenLane, targets: Targets): RelayError {
  const at = [...lane.positions].map(
    ([partition, position]) => `${partition}: ${position} of ${targets.get(partition)}`,
  )
  return new RelayError(
    'BROKER_ERROR',
    `lane ${lane.id.transactionalId}: the log gives nothing at ${at.join(', ')}; try again`,
  )
}
