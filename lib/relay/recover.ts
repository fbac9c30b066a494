import { isRelayError, RelayError } from '../errors.ts'
import { anchorLane, prefixShared, proveOurs } from './anchor.ts'
import { newSink, type OpenLane } from './lane.ts'

/** Fences in a row, our token unchanged, neither a timeout nor our own doing: somebody with another table uses our ids (R4). */
const fencesMax = 3
/** New sessions without a commit between them. */
const reopensMax = 8
/** A batch of one record cannot be smaller than this; below it a refusal is not about size. */
const batchBytesMin = 512

/**
 * A window failed. Goes on with the lane if the error allows it: returns with session and positions that are certain
 * again, behind a new barrier where one was needed. Throws what ends the lane's work in this invocation.
 */
export async function recover(lane: OpenLane, error: unknown): Promise<void> {
  lane.reader.forgetAhead()
  if (!isRelayError(error)) throw error
  if (error.outcome === 'unknown') lane.outcomeUnknown = true
  if (error.disposition === 'reopen') return reopen(lane, error)
  if (error.code === 'TRANSFORM_TIMED_OUT') return narrow(lane, error)
  if (isRefusalByBroker(error)) return tightenAfterRefusal(lane, error)
  throw error
}

/** R5: a session that has met its last epoch, or on the older protocol an unanswered transmission, ends with its window. */
export async function renewSession(lane: OpenLane): Promise<void> {
  lane.reader.forgetAhead()
  await behindNewBarrier(lane)
}

/** R3, R5, R6: only with proof that the token is ours, behind a new barrier, from what is committed. */
async function reopen(lane: OpenLane, error: RelayError): Promise<void> {
  const { runtime, id, deadline } = lane
  if (error.code === 'SESSION_FENCED') countFence(lane, error)
  if (++lane.reopened > reopensMax) throw givenUp(lane, error)
  runtime.observer.sessionReopened?.({ lane: id.transactionalId, error })
  await proveOurs(lane, error, deadline)
  await behindNewBarrier(lane)
}

async function behindNewBarrier(lane: OpenLane): Promise<void> {
  const found = { ...lane.fence.record, dirty: true }
  const anchored = await anchorLane({ ...lane, found, windowsTried: true }, lane.bell, lane.deadline)
  assertNotBehind(lane, anchored.positions)
  lane.confirmed = anchored.confirmed || (lane.confirmed && isWhereItWas(lane, anchored.positions))
  lane.outcomeUnknown = false
  lane.session = anchored.session
  lane.positions = anchored.positions
  lane.committedAtMs = anchored.committedAtMs ?? lane.committedAtMs
  lane.sink = newSink(lane)
}

/** Something that a new session does not mend: the next ring tries again, with the trigger's back-off between. */
function givenUp({ id }: OpenLane, error: RelayError): RelayError {
  const message = `lane ${id.transactionalId}: ${reopensMax} new sessions in a row ended without a commit; the last one: ${error.message}`
  return new RelayError(error.code, message, { cause: error, outcome: error.outcome, disposition: 'retry' })
}

function countFence(lane: OpenLane, error: RelayError): void {
  if (mayHaveTimedOut(lane) || lane.session.mayFenceItself) return
  lane.fencesUnexplained++
  if (lane.fencesUnexplained < fencesMax) return
  throw prefixShared(lane.id, `was fenced ${lane.fencesUnexplained} times`, { cause: error })
}

/** The broker aborts and fences a transaction that is older than its timeout: that explains a fence (R6). */
function mayHaveTimedOut({ runtime, transactionBeganMs }: OpenLane): boolean {
  return runtime.clock.now() - transactionBeganMs >= runtime.settings.transactionTimeoutMs
}

/** What was committed for certain stays committed: an answer below it is a broker's, not the truth (P1). */
function assertNotBehind({ positions, id }: OpenLane, now: ReadonlyMap<number, bigint>): void {
  for (const [partition, known] of positions) {
    const read = now.get(partition)
    if (read !== undefined && read >= known) continue
    const message = `lane ${id.transactionalId}: partition ${partition} was committed up to ${known}, the broker says ${read}`
    throw new RelayError('OFFSETS_DISAGREE', message, { disposition: 'retry' })
  }
}

/** No window of ours can have been committed since, and the broker has heard of none. */
function isWhereItWas({ positions, outcomeUnknown }: OpenLane, now: ReadonlyMap<number, bigint>): boolean {
  return !outcomeUnknown && [...positions].every(([partition, known]) => now.get(partition) === known)
}

/**
 * The transform ran out of time: nothing was sent yet, so a smaller window may be tried at once, or at the next ring in
 * this container when the time of this one is up too.
 */
function narrow(lane: OpenLane, error: RelayError): void {
  const { recordsTried, recordsInTime, deadline, runtime } = lane
  lane.recordsInTime = Math.max(1, Math.floor(Math.min(recordsTried, recordsInTime) / 2))
  if (recordsTried <= 1 || deadline.remainingMs() <= runtime.settings.commitReserveMs) throw error
}

const isRefusalByBroker = ({ code, context }: RelayError): boolean =>
  (code === 'RECORD_TOO_LARGE' || code === 'RECORD_INVALID') && context.brokerCode !== undefined

/**
 * The broker refuses a batch for good (10, 87, 32). Too large: the topic's bound is lower than we knew, and the record
 * that passes no batch is rejected by the encoder next time. Anything else: windows of one record, until it is alone.
 */
async function tightenAfterRefusal(lane: OpenLane, error: RelayError): Promise<void> {
  const { topic, batchBytes, batchRecords } = error.context
  const { batchBytesMax } = lane.runtime
  if (error.code === 'RECORD_TOO_LARGE' && typeof topic === 'string' && typeof batchBytes === 'number') {
    const bound = batchRecords === 1 ? batchBytes - 1 : Math.ceil(batchBytes / 2)
    batchBytesMax.set(topic, Math.max(batchBytesMin, bound))
  } else if (lane.recordsCap > 1) {
    lane.recordsCap = 1
  } else {
    rejectTheOne(lane, error)
  }
  await reopen(lane, error)
}

function rejectTheOne(lane: OpenLane, error: RelayError): void {
  const alone = lane.lastRecord
  if (!alone || lane.rejected.has(alone)) throw error
  lane.rejected.set(alone, new RelayError(error.code, error.message, { context: error.context }))
}
