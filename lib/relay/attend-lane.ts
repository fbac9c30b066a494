import type { Deadline } from '../clock.ts'
import { isRelayError, messageOf, RelayError } from '../errors.ts'
import type { FenceRecord } from '../fencing/fence-record.ts'
import { silenceCode } from '../kafka/silence-code.ts'
import { TransportError } from '../kafka/transport.ts'
import type { Bell } from './bell.ts'
import { blockedForLong } from './blocked.ts'
import { closeLane } from './close-lane.ts'
import { drainLane } from './drain.ts'
import type { OpenLane } from './lane.ts'
import { type LaneId, outranked, superseded } from './lane-id.ts'
import { type Look, look } from './look.ts'
import { openLane } from './open-lane.ts'
import type { RelayTopics } from './relay-topics.ts'
import type { RelayRuntime } from './runtime.ts'

/** How a lane's part of an invocation ended (R12). */
export type LaneEnd =
  /** The committed position is past everything that the bell rang for. */
  | { readonly kind: 'done'; readonly id: LaneId; readonly windows: number }
  /** The lane waits for an operator, and that is durably recorded: success, so that neighbours are not held up. */
  | { readonly kind: 'stopped'; readonly id: LaneId; readonly code: string; readonly message: string }
  /** A scheduled pull met a live owner and left the lane to it (R14). */
  | { readonly kind: 'left'; readonly id: LaneId }
  /** Ring again. */
  | { readonly kind: 'failed'; readonly id: LaneId; readonly error: RelayError; readonly windows: number }

export interface Attendance {
  readonly runtime: RelayRuntime
  readonly topics: RelayTopics
  readonly bell: Bell
  readonly requestId: string
  readonly deadline: Deadline
}

/** What is to be done in a lane. */
export interface LaneTask {
  /** Nothing, as far as the look can tell. */
  isDone(seen: Look): boolean
  /** The lane is ours. @throws RelayError whatever ends the work */
  work(lane: OpenLane, seen: Look): Promise<void>
}

/** What bells ring for. */
const relayRecords: LaneTask = {
  isDone: ({ past }) => past,
  work: (lane, { stableUntil }) => drainLane(lane, stableUntil, lane.renewal.lost),
}

/** How often another owner's lane is looked at while waiting for it. */
const watchMs = 150

/** One lane, from what the look saw to its answer. Never throws: a lane's failure is its own, its neighbours go on. */
export async function attendLane(
  attendance: Attendance,
  id: LaneId,
  first: Look,
  task = relayRecords,
): Promise<LaneEnd> {
  const { runtime, bell } = attendance
  let seen = first
  try {
    for (let mayPreempt = hasTimeToPreempt(attendance); !task.isDone(seen); mayPreempt = hasTimeToPreempt(attendance)) {
      const { topics, requestId, deadline } = attendance
      const opened = await openLane(runtime, topics, id, seen, bell, { requestId, mayPreempt }, deadline)
      if (opened.kind === 'open') return await workLane(attendance, opened.lane, () => task.work(opened.lane, seen))
      if (opened.kind === 'stopped') return stoppedBefore(id, opened.record)
      if (opened.kind === 'stand-down') {
        return await standDown(attendance, id, opened.reason === 'contended' ? superseded(id) : outranked(id))
      }
      if (bell.kind === 'pull') return { kind: 'left', id }
      seen = await watch(attendance, id, opened.record)
    }
    const blocked = await blockedForLong(runtime, id, seen, attendance.deadline)
    if (blocked) throw blocked
    runtime.observer.noopBell?.({ lane: id.transactionalId })
    return { kind: 'done', id, windows: 0 }
  } catch (error) {
    return endOf(attendance, id, laneError(id, error), 0)
  }
}

/**
 * Work, then release, whatever happened in between. What is still on its way would stay in a container that is frozen, or
 * come out of it behind what the next owner writes.
 */
async function workLane(attendance: Attendance, lane: OpenLane, work: () => Promise<void>): Promise<LaneEnd> {
  const { id, renewal } = lane
  const failure = await work().then(
    () => null,
    (error) => withOutcome(lane, laneError(id, error)),
  )
  if (lane.outputsUnderway) await lane.outputsUnderway
  await renewal.stop()
  await closeLane(lane, failure, attendance.deadline)
  if (!failure) return { kind: 'done', id, windows: lane.commits }
  return endOf(attendance, id, failure, lane.commits)
}

/** Whatever came in the way of finding out, what is not known is the last window's outcome. */
function withOutcome({ id, outcomeUnknown }: OpenLane, error: RelayError): RelayError {
  const toldAlready = error.outcome === 'unknown' || ['stop-lane', 'stand-down'].includes(error.disposition)
  if (!outcomeUnknown || toldAlready) return error
  return new RelayError(
    'COMMIT_UNKNOWN',
    `lane ${id.transactionalId}: whether its last window was committed is not known (${error.message}); the next ring finds out`,
    { cause: error, outcome: 'unknown', disposition: 'retry' },
  )
}

/** What an error that ended the work means for the lane, told to the observer. */
export async function endOf(attendance: Attendance, id: LaneId, error: RelayError, windows: number): Promise<LaneEnd> {
  const { observer } = attendance.runtime
  if (error.disposition === 'stand-down') return standDown(attendance, id, error)
  const lane = id.transactionalId
  if (error.disposition === 'stop-lane') {
    observer.laneStopped?.({ lane, error })
    return { kind: 'stopped', id, code: error.code, message: error.message }
  }
  observer.laneFailed?.({ lane, error })
  return { kind: 'failed', id, error, windows }
}

/** Superseded: success if the newer owner has come past the bell already, else failure, so that the bell rings again. */
async function standDown(attendance: Attendance, id: LaneId, error: RelayError): Promise<LaneEnd> {
  attendance.runtime.observer.stoodDown?.({ lane: id.transactionalId, reason: error.message })
  const seen = await lookAgain(attendance, id).catch(() => null)
  return seen?.past ? { kind: 'done', id, windows: 0 } : { kind: 'failed', id, error, windows: 0 }
}

function stoppedBefore(id: LaneId, { stopped }: FenceRecord): LaneEnd {
  return { kind: 'stopped', id, code: stopped?.code ?? 'LANE_STOPPED', message: stopped?.message ?? '' }
}

/** R14: another owner's live lease is watched by looking and reading, never preempted before it has expired. */
async function watch(attendance: Attendance, id: LaneId, leased: FenceRecord): Promise<Look> {
  const { runtime, deadline } = attendance
  const { clock, random, fences } = runtime
  for (let record: FenceRecord | null = leased; ; ) {
    if (deadline.remainingMs() <= watchMs + runtime.settings.commitReserveMs) throw heldBy(id, record)
    await clock.sleep(watchMs * (0.5 + random.fraction()))
    const seen = await lookAgain(attendance, id)
    record = await fences.read(id.transactionalId, deadline)
    const free = record === null || record.owner === null || record.stopped !== null
    const expired = record !== null && record.leaseUntilMs <= clock.now() && hasTimeToPreempt(attendance)
    if (seen.past || free || expired) return seen
  }
}

async function lookAgain({ runtime, topics, bell, deadline }: Attendance, id: LaneId): Promise<Look> {
  const seen = (await look(runtime, topics, [id], bell, deadline)).get(id)
  return seen ?? { past: false, committed: new Map(), allCommitted: false, stableUntil: new Map(), heldBack: [] }
}

/** For a barrier, one window and the reserve: taking a lane without time to work only stops its owner (P12). */
function hasTimeToPreempt({ runtime, deadline }: Attendance): boolean {
  return deadline.remainingMs() > 3 * runtime.settings.commitReserveMs
}

function heldBy(id: LaneId, record: FenceRecord | null): RelayError {
  const owner = record?.owner ? `${record.owner.container} (request ${record.owner.requestId})` : 'another owner'
  return new RelayError('LANE_LEASED', `lane ${id.transactionalId} is held by ${owner}; ring again when it is done`)
}

function laneError(id: LaneId, error: unknown): RelayError {
  if (isRelayError(error)) return error
  const message = `lane ${id.transactionalId}: ${messageOf(error)}`
  if (error instanceof TransportError) return new RelayError(silenceCode(error), message, { cause: error })
  return new RelayError('INVARIANT_BROKEN', message, { cause: error })
}
