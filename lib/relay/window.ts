import { type Deadline, deadlineAt } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { offsetsToCommit } from './commit-offsets.ts'
import { rejectionKey, type TransformCounts } from './compiled-relay.ts'
import { type OpenLane, positionsText } from './lane.ts'
import type { ReadLimits, ReadWindow } from './lane-reader.ts'
import { recordsMaxNow } from './poison.ts'
import { StoppedAtRecord, windowBefore } from './stopped-at-record.ts'
import { TransformTurns } from './transform-turns.ts'
import type { WindowSink } from './window-sink.ts'

export type Targets = ReadonlyMap<number, bigint>

/**
 * Steps 5 to 11: relay one window of a lane, all of it or nothing. On return the lane's positions have moved and the
 * outputs, the dead letters and the offsets are committed together. A record that the relay stops at is where the window
 * ends; it is thrown when what comes before it is committed.
 *
 * @returns false when the log had nothing readable below the targets after all
 * @throws RelayError whose disposition says how the lane goes on (recover.ts); nothing of the window is visible then,
 *   unless its outcome is `unknown`
 */
export async function relayWindow(lane: OpenLane, targets: Targets): Promise<boolean> {
  const { runtime, reader } = lane
  const began = runtime.clock.now()
  const limits = windowLimits(lane, targets)
  const announce = announcer(lane, targets, limits)
  await announce('read') //                                                    5
  const window = await reader.next(lane.positions, targets, limits, lane.deadline) // 6
  if (!hasMoved(lane.positions, window.until)) return false
  if (lane.attempts === 0) reader.readAhead(window.until, targets, limits, lane.deadline)
  noteRecords(lane, window, limits)
  const read = runtime.clock.now()
  const { sink } = lane
  const isSuspected = lane.attempts > 0 && limits.recordsMax === 1
  const { counts, until, stop } = await TransformTurns.of(runtime).take(isSuspected, async () => {
    await announce('transform')
    const done = await transformUpToStop(lane, window, sink) //                7
    await announce('commit')
    return done
  })
  const transformed = runtime.clock.now()
  await commitWindow(lane, sink, until) //                                     8-10
  const committed = runtime.clock.now()
  lane.positions = until //                                                    11
  lane.confirmed = true
  lane.commits++
  lane.committedAtMs = committed
  lane.fencesUnexplained = 0
  lane.reopened = 0
  lane.windowMsMax = Math.max(lane.windowMsMax, committed - began)
  const timings = { readMs: read - began, transformMs: transformed - read, commitMs: committed - transformed }
  tell(lane, counts, sink.sizeBytes, timings)
  if (lane.session.reusable && runtime.relay.guarantee === 'exactly-once') sink.recycle()
  if (stop) throw stop
  return true
}

function windowLimits(lane: OpenLane, targets: Targets): ReadLimits {
  const { bytesMax } = lane.runtime.relay.window
  const cap = Math.min(lane.recordsCap, lane.recordsInTime)
  if (lane.attempts === 0) return { recordsMax: cap, bytesMax }
  const ahead = Math.min(cap, offsetsAhead(lane, targets), diedWith(lane, targets))
  return { recordsMax: recordsMaxNow(ahead, lane.attempts, lane.commits), bytesMax }
}

/** No window holds more records than there are offsets: halving begins there and not at the relay's limit. */
function offsetsAhead({ positions }: OpenLane, targets: Targets): number {
  const ahead = [...positions].map(([partition, from]) => Number((targets.get(partition) ?? from) - from))
  return ahead.reduce((sum, offsets) => sum + Math.max(0, offsets), 0)
}

/** How many records the window had that the last owner died with at this very place: halving goes on from there. */
function diedWith(lane: OpenLane, targets: Targets): number {
  const intent = lane.found?.intent
  const [partition, from] = placeOf(lane, targets) ?? []
  return intent?.partition === partition && intent?.from === from ? (intent?.recordsMax ?? Infinity) : Infinity
}

/** Where the next window begins. */
const placeOf = ({ positions }: OpenLane, targets: Targets): [number, bigint] | undefined =>
  [...positions].find(([partition, from]) => from < (targets.get(partition) ?? from))

/**
 * While deaths are counted, what the lane is about to do is written and acknowledged before it does it: once per window,
 * and at every change of stage once a record is alone, since only a death in its transform counts against it (P8).
 */
function announcer(lane: OpenLane, targets: Targets, { recordsMax }: ReadLimits) {
  const place = placeOf(lane, targets)
  return async (stage: 'read' | 'transform' | 'commit'): Promise<void> => {
    if (lane.attempts === 0 || !place || (stage !== 'read' && recordsMax > 1)) return
    const [partition, from] = place
    await lane.fence.intent({ partition, from, recordsMax, stage }, lane.attempts, lane.deadline)
  }
}

/** A record alone may be known as poison; and it is the culprit if the broker refuses its outputs. */
function noteRecords(lane: OpenLane, { records }: ReadWindow, { recordsMax }: ReadLimits): void {
  const [record] = records
  lane.recordsTried = records.length
  lane.lastRecord = record ? rejectionKey(record.topic, record.partition, record.offset) : null
  const deaths = lane.fence.record.intent?.deathsAlone ?? 0
  const { poisonAttempts } = lane.runtime.relay
  if (lane.attempts === 0 || recordsMax > 1 || !record || deaths < poisonAttempts) return
  const { topic, partition, offset } = record
  const message = `record ${topic}/${partition}/${offset} ended the process ${deaths} times, alone, in its transform`
  lane.rejected.set(rejectionKey(topic, partition, offset), new RelayError('POISON_RECORD', message))
  lane.runtime.observer.alarm?.({ lane: lane.id.transactionalId, code: 'POISON_RECORD', message })
}

interface Transformed {
  readonly counts: TransformCounts
  /** What is committed with the sink's content. */
  readonly until: ReadonlyMap<number, bigint>
  /** Thrown once that is committed. */
  readonly stop: StoppedAtRecord | null
}

/**
 * A record that the relay stops at ends the window before it. What comes first is transformed anew, as if it had been read
 * alone: a transform of whole windows may have put into any output what it saw behind that record.
 */
async function transformUpToStop(lane: OpenLane, window: ReadWindow, sink: WindowSink): Promise<Transformed> {
  sink.reset()
  try {
    return { counts: await transform(lane, window, sink), until: window.until, stop: null }
  } catch (error) {
    if (!(error instanceof StoppedAtRecord)) throw error
    const part = windowBefore(window, error.record)
    if (!hasMoved(lane.positions, part.until)) throw error
    const done = await transformUpToStop(lane, part, sink)
    return { ...done, stop: done.stop ?? error }
  }
}

function transform(lane: OpenLane, { records }: ReadWindow, sink: WindowSink): Promise<TransformCounts> {
  const { runtime, deadline, rejected, attempts } = lane
  const { clock, running, relay, settings } = runtime
  const until = Math.min(deadline.atMs - settings.commitReserveMs, clock.now() + relay.window.msMax)
  return running.transform(records, sink, {
    deadline: deadlineAt(clock, until),
    attempt: attempts + 1,
    rejected,
    yieldNow: () => clock.sleep(0),
  })
}

async function commitWindow(lane: OpenLane, sink: WindowSink, until: ReadonlyMap<number, bigint>): Promise<void> {
  const { session, deadline } = lane
  const offsets = offsetsToCommit(lane, until)
  const inTransaction = lane.runtime.relay.guarantee === 'exactly-once' ? sink.batches : []
  if (inTransaction !== sink.batches) await produceOutside(lane, sink, deadline)
  lane.transactionBeganMs = lane.runtime.clock.now()
  try {
    await session.begin(inTransaction, deadline)
    await bothOrFirstError(session.send(inTransaction, deadline), session.sendOffsets(offsets, deadline))
    assertTimeToCommit(lane)
  } catch (error) {
    await session.abort(deadline)
    throw error
  }
  await session.commit(deadline)
}

/** at-least-once waits for every acknowledgement before the offsets move; `none` only before its lane is released. */
async function produceOutside(lane: OpenLane, sink: WindowSink, deadline: Deadline): Promise<void> {
  if (!lane.producer?.usable) lane.producer = await lane.runtime.openProducer(deadline)
  const sent = lane.producer.send(sink.batches, deadline)
  if (lane.runtime.relay.guarantee === 'at-least-once') return sent
  const before = lane.outputsUnderway
  const told = sent.catch((error) => lane.runtime.observer.laneFailed?.({ lane: lane.id.transactionalId, error }))
  lane.outputsUnderway = told.then(() => before ?? undefined)
}

/** Both must have ended before anything else is decided: a request still on its way belongs to this transaction. */
async function bothOrFirstError(...both: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(both)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

function assertTimeToCommit({ deadline, id, runtime }: OpenLane): void {
  const leftMs = deadline.remainingMs()
  const neededMs = runtime.settings.commitReserveMs
  if (leftMs >= neededMs) return
  throw new RelayError(
    'OUT_OF_TIME',
    `lane ${id.transactionalId}: ${leftMs} ms are left, a commit needs ${neededMs} ms; the window is relayed at the next ring`,
  )
}

const hasMoved = (before: ReadonlyMap<number, bigint>, after: ReadonlyMap<number, bigint>): boolean =>
  [...after].some(([partition, offset]) => before.get(partition) !== offset)

function tell(
  lane: OpenLane,
  counts: TransformCounts,
  bytes: number,
  timings: { readMs: number; transformMs: number; commitMs: number },
): void {
  const until = positionsText(lane.positions)
  lane.runtime.observer.windowCommitted?.({ lane: lane.id.transactionalId, counts, until, bytes, timings })
}
