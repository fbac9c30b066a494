import { type Deadline, deadlineAt, sooner } from '../clock.ts'
import { isRelayError } from '../errors.ts'
import { type Acquired, type AcquireResult, acquireFence } from '../fencing/fence.ts'
import { keepRenewed } from '../fencing/renewal.ts'
import { anchorLane } from './anchor.ts'
import type { Bell } from './bell.ts'
import { newLane, type OpenLane, positionsText } from './lane.ts'
import type { LaneId } from './lane-id.ts'
import { LaneReader } from './lane-reader.ts'
import type { Look } from './look.ts'
import { learnTopicSettings, type RelayTopics } from './relay-topics.ts'
import type { RelayRuntime, WarmLane } from './runtime.ts'

/** The lane is ours, or why it is not. */
export type Opened =
  | { readonly kind: 'open'; readonly lane: OpenLane }
  | Exclude<AcquireResult, { readonly kind: 'acquired' }>

export interface OpenRequest {
  readonly requestId: string
  /** Whether an expired lease may be taken: only with time left for a barrier, one window and the reserve (R14). */
  readonly mayPreempt: boolean
}

/**
 * Steps 1 to 4. Whoever re-acquires a record that nobody has touched since its own release keeps session and position;
 * everybody else goes through the barrier.
 *
 * @throws RelayError what `anchorLane` throws; the fence is released then, and nothing was relayed.
 */
export async function openLane(
  runtime: RelayRuntime,
  topics: RelayTopics,
  id: LaneId,
  seen: Look,
  bell: Bell,
  request: OpenRequest,
  deadline: Deadline,
): Promise<Opened> {
  const acquiring = acquire(runtime, id, seen, request, deadline)
  const reader = new LaneReader(runtime, id, topics.sourceTopicId, bell)
  if (seen.allCommitted && runtime.warm.has(id.transactionalId)) readEarly(runtime, reader, seen, deadline)
  const acquired = await acquiring
  if (acquired.kind !== 'acquired') {
    await reader.leaveAhead()
    return acquired
  }
  const { handle: fence, found } = acquired
  if (acquired.rollback) alarmRollback(runtime, id)
  const renewal = keepRenewed(fence, runtime.clock, runtime.settings.renewEveryMs)
  try {
    await learnTopicSettings(runtime, deadline)
    const warm = warmStart(runtime, id, topics, seen, acquired)
    const start = warm ?? (await anchorLane({ runtime, id, topics, fence, found, windowsTried: false }, bell, deadline))
    const workUntil = deadlineAt(runtime.clock, deadline.atMs - releaseReserveMs(runtime.settings))
    const lane = newLane({ runtime, id, topics, bell, fence, found, deadline: workUntil, renewal, reader, ...start })
    runtime.observer.laneOpened?.({
      lane: id.transactionalId,
      token: fence.record.token,
      positions: positionsText(lane.positions),
      warm: warm !== null,
    })
    return { kind: 'open', lane }
  } catch (error) {
    await renewal.stop()
    await reader.leaveAhead()
    await giveUp(acquired, error, deadline)
    runtime.warm.set(id.transactionalId, { held: fence.held, resume: null })
    throw error
  }
}

/**
 * Fetches the first window while the fence is acquired: if the lane opens at the position that step 0 saw, the window is in
 * hand, else it is dropped (lane-reader.ts). Only in a container that had the lane before: whoever is new to it reads after
 * the acquire, so that a batch that kills its reader leaves the record `working`, and the death is counted.
 */
function readEarly(runtime: RelayRuntime, reader: LaneReader, seen: Look, deadline: Deadline): void {
  const soon = sooner(runtime.clock, deadline, earlyReadMs)
  reader.readAhead(seen.committed, seen.stableUntil, runtime.relay.window, soon)
}

/** An early read that has not come by then is left behind, and the window reads for itself. */
const earlyReadMs = 1_000

/** The release is the last word of an invocation and must still reach the fence table when the work used all its time. */
const releaseReserveMs = ({ commitReserveMs }: RelayRuntime['settings']): number => commitReserveMs / 4

function acquire(
  runtime: RelayRuntime,
  id: LaneId,
  seen: Look,
  { requestId, mayPreempt }: OpenRequest,
  deadline: Deadline,
): Promise<AcquireResult> {
  const { settings, fences, clock, random } = runtime
  const request = {
    id: id.transactionalId,
    container: settings.container,
    requestId,
    generation: settings.generation,
    leaseMs: settings.leaseMs,
    leaseMaxMs: settings.functionTimeoutMs,
    mayPreempt,
    offsetsFound: seen.allCommitted,
    held: runtime.warm.get(id.transactionalId)?.held ?? null,
    heldIsOutdated: hasMovedSince(runtime.warm.get(id.transactionalId), seen),
    acceptStopped: false,
  }
  return acquireFence(fences, clock, random, request, deadline)
}

/** Step 0 saw another position than the one where we left the lane: somebody else has had it. */
function hasMovedSince(warm: WarmLane | undefined, { committed }: Look): boolean {
  const left = warm?.resume?.positions ?? new Map<number, bigint>()
  return [...left].some(([partition, position]) => committed.get(partition) !== position)
}

/**
 * R5, R7: only for a record that was free, with our token and our last nonce, and a session that the last window left
 * reusable. Not when the broker has forgotten an offset meanwhile: F is committed again behind a barrier, before the
 * record becomes dirty. Nor when the source was made anew: a position kept warm is one of the log that was.
 */
function warmStart(runtime: RelayRuntime, id: LaneId, topics: RelayTopics, seen: Look, acquired: Acquired) {
  const { record } = acquired.handle
  const resume = runtime.warm.get(id.transactionalId)?.resume
  const samePartitions = resume && id.partitions.every((partition) => resume.positions.has(partition))
  const sameLog = record.sourceTopicId === topics.sourceTopicId && record.clusterId === topics.clusterId
  const isKept = acquired.continued && seen.allCommitted && sameLog
  if (!isKept || !samePartitions || !resume.session.reusable) return null
  return { ...resume, attempts: record.attempts, committedAtMs: null, confirmed: true }
}

/** A stop is recorded durably; any other ending frees the lease for the next ring. */
async function giveUp({ handle }: Acquired, error: unknown, deadline: Deadline): Promise<void> {
  const ending = isRelayError(error) && error.outcome === 'unknown' ? UNKNOWN : UNOPENED
  if (!isRelayError(error)) return void (await handle.release(ending, deadline))
  if (error.disposition === 'stop-lane')
    return handle.stop({ code: error.code, message: error.message }, ending, deadline)
  if (error.disposition !== 'stand-down') await handle.release(ending, deadline)
}

const UNKNOWN = { kind: 'unknown' } as const
const UNOPENED = { kind: 'unopened' } as const

function alarmRollback({ observer, settings }: RelayRuntime, id: LaneId): void {
  const message = `lane taken over by generation ${settings.generation}, below the one that held it: a rollback?`
  observer.alarm?.({ lane: id.transactionalId, code: 'ROLLBACK', message })
}
