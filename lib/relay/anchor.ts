import type { Deadline } from '../clock.ts'
import { type ErrorDetails, isRelayError, RelayError } from '../errors.ts'
import type { FenceHandle } from '../fencing/fence.ts'
import type { FenceChanges, FenceRecord } from '../fencing/fence-record.ts'
import type { TransactionSession } from '../transaction/session.ts'
import { passBarrier } from './barrier.ts'
import type { Bell } from './bell.ts'
import { type Committer, commitOffsetsOnly } from './commit-offsets.ts'
import { firstPositions } from './first-start.ts'
import { type LaneId, superseded } from './lane-id.ts'
import { attemptsAtOpen } from './poison.ts'
import type { Reconciled } from './reconcile.ts'
import { assertSourceIsCurrent, type RelayTopics, relayTopics } from './relay-topics.ts'
import type { RelayDeployment } from './runtime.ts'

export interface LaneUnderway {
  readonly runtime: RelayDeployment
  readonly id: LaneId
  readonly topics: RelayTopics
  readonly fence: FenceHandle
  /** The record as step 1 found it; null when the acquire made it. */
  readonly found: FenceRecord | null
  /** Whether windows of this invocation may have been committed past F. */
  readonly windowsTried: boolean
}

export interface Anchored {
  readonly session: TransactionSession
  readonly positions: ReadonlyMap<number, bigint>
  /** Deaths at work since the position last moved. */
  readonly attempts: number
  /** When the positions were committed here; null: they stood already. */
  readonly committedAtMs: number | null
  /** Whether more than one broker's answer says so: a clean record, or whoever took our own commit of them (step 9). */
  readonly confirmed: boolean
}

const triesMax = 5

/**
 * Steps 2 to 4: behind the barrier, find where the lane goes on, and make record and offsets say the same before any
 * window. An unknown outcome on the way (a lost EndTxn answer) is resolved by going behind the barrier again, as long
 * as a write proves that the lane is still ours (R3, R6).
 */
export async function anchorLane(lane: LaneUnderway, bell: Bell, deadline: Deadline): Promise<Anchored> {
  let found = lane.found
  for (let tries = 1; ; tries++) {
    try {
      const behind = await passBarrier(lane.runtime, lane.id, lane.topics, lane.fence, found, deadline)
      return await settle(lane, found, behind.session, behind.reconciled, bell, deadline)
    } catch (error) {
      if (!isRelayError(error) || error.disposition !== 'reopen' || tries === triesMax) throw error
      await proveOurs(lane, error, deadline)
      found = lane.fence.record // judged as whoever found it now would judge it
    }
  }
}

async function settle(
  lane: LaneUnderway,
  found: FenceRecord | null,
  session: TransactionSession,
  reconciled: Reconciled,
  bell: Bell,
  deadline: Deadline,
): Promise<Anchored> {
  const { fence, topics, id } = lane
  if (reconciled.adopt && lane.windowsTried) throw overtaken(lane, reconciled.adopt.token)
  if (reconciled.adopt) await adopt(lane, reconciled.adopt, continuing(reconciled), deadline)
  if (mustCommit(reconciled)) await assertSourceIsCurrent(lane.runtime, topics, deadline)
  const positions = await positionsAfter(lane, reconciled, bell, deadline)
  const committer: Committer = { id, topics, fence, session, positions }
  const isDirty = fence.record.dirty
  if (!isDirty) await noteFacts(lane, positions, deadline)
  if (mustCommit(reconciled)) await commitOffsetsOnly(committer, positions, deadline)
  if (isDirty) await noteFacts(lane, positions, deadline) // an F without an offset would be taken for OFFSETS_LOST
  const committedAtMs = mustCommit(reconciled) ? lane.runtime.clock.now() : null
  const after = afterReset(reconciled, positions)
  const changes: FenceChanges = fence.record.dirty ? after : { ...after, dirty: true }
  if (Object.keys(changes).length > 0) await fence.note(changes, deadline)
  const confirmed = committedAtMs !== null || !(found?.dirty || reconciled.adopt)
  return { session, positions, attempts: attemptsNow(found, fence.record, positions), committedAtMs, confirmed }
}

/** Kafka went on while the table was lost or restored (S9): the offsets' own token and lineage are the newer truth. */
async function adopt(
  { fence, runtime, id }: LaneUnderway,
  newer: { token: number; lineage: string },
  committedUntil: ReadonlyMap<number, bigint>,
  deadline: Deadline,
) {
  const { prefix } = runtime.settings
  const message = `fence record is older than the committed offsets: token ${newer.token} adopted. Was the table restored or lost, or does another deployment use the prefix '${prefix}' with a table of its own?`
  runtime.observer.alarm?.({ lane: id.transactionalId, code: 'FENCE_TABLE_BEHIND', message })
  await fence.adopt({ ...newer, committedUntil }, deadline)
}

/** No copy of the table came back while we were at work, our record is the proof: others commit under our ids (R4). */
function overtaken({ id, fence }: LaneUnderway, token: number): RelayError {
  return prefixShared(id, `was overtaken by offsets of token ${token - 1}`, { context: { token: fence.token } })
}

export function prefixShared({ transactionalId }: LaneId, what: string, details: ErrorDetails): RelayError {
  const message = `lane ${transactionalId} ${what} while its fence record stayed ours: another deployment with another table uses this prefix; give each its own`
  return new RelayError('PREFIX_SHARED', message, details)
}

/**
 * After a fence or an unknown outcome nothing is tried again unless a conditional write proves that the token is still
 * ours (R3, R6). A store that does not answer proves nothing: failure, and the next ring finds out (R7).
 */
export async function proveOurs(
  { fence, id }: Pick<LaneUnderway, 'fence' | 'id'>,
  cause: RelayError,
  deadline: Deadline,
) {
  const hold = await fence.renew(deadline)
  if (hold.kind === 'ours') return
  const details = { cause, outcome: cause.outcome }
  if (hold.kind === 'superseded') throw superseded(id, details)
  const message = `lane ${id.transactionalId}: after ${cause.code} nothing is tried again in this invocation, since ${hold.error.message}`
  throw new RelayError(hold.error.code, message, details)
}

async function positionsAfter(
  { runtime, id, topics, fence }: LaneUnderway,
  reconciled: Reconciled,
  bell: Bell,
  deadline: Deadline,
): Promise<ReadonlyMap<number, bigint>> {
  const fresh = [...reconciled.partitions].flatMap(([partition, { kind }]) =>
    kind === 'first-start' ? [partition] : [],
  )
  const started = fence.record.committedUntil.size > 0
  const first = fresh.length > 0 ? await firstPositions({ runtime, id, topics, started }, fresh, bell, deadline) : []
  return new Map([...continuing(reconciled), ...first])
}

/** Where partitions go on that have been relayed before. */
const continuing = ({ partitions }: Reconciled): ReadonlyMap<number, bigint> =>
  new Map(
    [...partitions].flatMap(([partition, verdict]): [number, bigint][] =>
      verdict.kind === 'continue' ? [[partition, verdict.position]] : [],
    ),
  )

/** What the record must say before the first Produce: F, which log it is of, and how outputs are partitioned. */
async function noteFacts(
  lane: LaneUnderway,
  positions: ReadonlyMap<number, bigint>,
  deadline: Deadline,
): Promise<void> {
  const { fence, topics } = lane
  const { record } = fence
  const added = [...positions].filter(([partition]) => !record.committedUntil.has(partition))
  const unpinned = await countsToPin(lane, deadline)
  const known = record.clusterId === topics.clusterId && record.sourceTopicId === topics.sourceTopicId
  if (added.length === 0 && unpinned.length === 0 && known) return
  await fence.note(
    {
      committedUntil: new Map([...record.committedUntil, ...added]),
      outputPartitions: new Map([...record.outputPartitions, ...unpinned]),
      clusterId: topics.clusterId,
      sourceTopicId: topics.sourceTopicId,
    },
    deadline,
  )
}

/** Of outputs that have no pin yet, and of those that were made anew with fewer partitions than are pinned. */
async function countsToPin({ runtime, topics, fence }: LaneUnderway, deadline: Deadline): Promise<[string, number][]> {
  const pinned = fence.record.outputPartitions
  const isBelowPin = ([topic, count]: [string, number]): boolean => count < (pinned.get(topic) ?? 0)
  const known = [...topics.outputPartitions]
  const now = known.some(isBelowPin) ? (await relayTopics(runtime, deadline, 'fresh')).outputPartitions : known
  return [...now].filter((output) => !pinned.has(output[0]) || isBelowPin(output))
}

const mustCommit = ({ partitions }: Reconciled): boolean =>
  [...partitions.values()].some(
    (verdict) => verdict.kind === 'first-start' || (verdict.kind === 'continue' && verdict.recommit),
  )

/** R16: only after the offsets of a reset are committed does F follow, and only then is the order to reset forgotten. */
function afterReset({ finishesReset }: Reconciled, positions: ReadonlyMap<number, bigint>): FenceChanges {
  return finishesReset ? { committedUntil: positions, resetTo: null } : {}
}

function attemptsNow(found: FenceRecord | null, record: FenceRecord, positions: ReadonlyMap<number, bigint>): number {
  if (!found) return 0
  const last = found.intent ? new Map([[found.intent.partition, found.intent.from]]) : found.committedUntil
  const moved = [...last].some(([partition, offset]) => positions.get(partition) !== offset)
  return attemptsAtOpen(record.attempts, found.working, moved)
}
