import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { FenceRecord } from '../fencing/fence-record.ts'
import { isExpired } from '../fencing/fence-rules.ts'
import { openTransactionOf } from '../transaction/describe.ts'
import { type Attendance, attendLane, endOf, type LaneEnd } from './attend-lane.ts'
import { blockedForLong } from './blocked.ts'
import type { InvocationReport } from './invocation.ts'
import { commitPositionsAgain, keepAliveMs } from './keep-alive.ts'
import type { LaneId } from './lane-id.ts'
import { type Look, look } from './look.ts'
import { lanesAt, relayTopics } from './relay-topics.ts'
import type { RelayRuntime } from './runtime.ts'

/** Why a lane without records was opened all the same. */
export type SweepReason =
  /** Its owner died: the record is dirty, still names it after the lease, or a reset is not finished. */
  | 'left behind'
  /** There are offsets of ours and no record: the table was lost. */
  | 'no fence record'
  /** Its positions were last committed so long ago that Kafka would forget them. */
  | 'idle'
  /** A transaction of its id is open and nobody works on it. */
  | 'open transaction'

export interface SweepReport extends InvocationReport {
  /** Lanes without records that were opened, and their positions committed again, by transactional id. */
  readonly refreshed: ReadonlyMap<string, SweepReason>
}

/**
 * What must happen although no bell rings. Lanes with records that no bell has told of are drained, as a pull does. Of
 * the others those are opened that would not survive being left alone; opening ends what a dead owner left open, and
 * their positions are committed again. Stopped lanes are left alone and told of each time.
 *
 * Must run more often than the source's retention, and than a third of `offsets.retention.minutes`.
 * @throws RelayError TOPIC_MISSING, BROKER_UNAVAILABLE, FENCE_STORE_UNAVAILABLE ... when no lane can be judged
 */
export async function sweepRelay(runtime: RelayRuntime, requestId: string, deadline: Deadline): Promise<SweepReport> {
  const topics = await relayTopics(runtime, deadline, 'fresh')
  const lanes = lanesAt(runtime, topics)
  const bell = { kind: 'pull', lingerUntilMs: null } as const
  const [seen, records, idleMs] = await Promise.all([
    look(runtime, topics, lanes, bell, deadline),
    fenceRecords(runtime, deadline),
    keepAliveMs(runtime.cluster, deadline),
  ])
  const sweep = new Sweep({ runtime, topics, bell, requestId, deadline }, records, idleMs)
  const ends = await Promise.all([...seen].map(([lane, what]) => sweep.lane(lane, what)))
  return { lanes: ends, ok: ends.every(({ kind }) => kind !== 'failed'), refreshed: sweep.refreshed }
}

type FenceRecords = ReadonlyMap<string, FenceRecord>

/** Those of the relay, by transactional id. One that cannot be read is told of: it holds its lane up. */
async function fenceRecords({ fences, relay, settings, observer }: RelayRuntime, deadline: Deadline) {
  const { records, unreadable } = await fences.list(`${settings.prefix}.${relay.name}.`, deadline)
  for (const { id, error } of unreadable) observer.laneFailed?.({ lane: id, error })
  return new Map(records.map((record) => [record.id, record]))
}

class Sweep {
  readonly refreshed = new Map<string, SweepReason>()
  readonly #attendance: Attendance
  readonly #records: FenceRecords
  readonly #idleMs: number

  constructor(attendance: Attendance, records: FenceRecords, idleMs: number) {
    this.#attendance = attendance
    this.#records = records
    this.#idleMs = idleMs
  }

  async lane(id: LaneId, seen: Look): Promise<LaneEnd> {
    const record = this.#records.get(id.transactionalId) ?? null
    this.#tellWhatIsFound(id, record, seen)
    if (record?.stopped) return this.#tellOfStop(id, record.stopped)
    if (this.#waitsForItsFirstEvent(record, seen)) return { kind: 'done', id, windows: 0 }
    if (!seen.past) return attendLane(this.#attendance, id, seen)
    const end = await this.#keep(id, record, seen)
    const { runtime, deadline } = this.#attendance
    const blocked = end.kind === 'done' ? await blockedForLong(runtime, id, seen, deadline) : null
    return blocked ? endOf(this.#attendance, id, blocked, 0) : end
  }

  /** A lane with nothing to read. */
  async #keep(id: LaneId, record: FenceRecord | null, seen: Look): Promise<LaneEnd> {
    const reason = await this.#reasonToOpen(id, record)
    if (reason === null) return { kind: 'done', id, windows: 0 }
    const end = await attendLane(this.#attendance, id, seen, commitPositionsAgain)
    if (end.kind === 'done') this.refreshed.set(id.transactionalId, reason)
    return end
  }

  #tellWhatIsFound({ transactionalId, partitions }: LaneId, record: FenceRecord | null, seen: Look): void {
    const { clock, observer } = this.#attendance.runtime
    const lags = partitions.map((partition) => lagAt(seen, partition))
    const lagOffsets = lags.some((lag) => lag === null) ? null : lags.reduce<number>((sum, lag) => sum + (lag ?? 0), 0)
    const committedAtMs = record?.committedAtMs ?? null
    const committedAgeMs = committedAtMs === null ? null : clock.now() - committedAtMs
    observer.laneSwept?.({ lane: transactionalId, lagOffsets, committedAgeMs })
  }

  #tellOfStop(id: LaneId, { code, message, atMs }: NonNullable<FenceRecord['stopped']>): LaneEnd {
    const since = new Date(atMs).toISOString()
    const error = new RelayError('LANE_STOPPED', `lane ${id.transactionalId} stands still since ${since}: ${message}`)
    this.#attendance.runtime.observer.laneStopped?.({ lane: id.transactionalId, error })
    return { kind: 'stopped', id, code, message }
  }

  /** `startAt: 'event'` means the first event, not the first sweep. */
  #waitsForItsFirstEvent(record: FenceRecord | null, { committed }: Look): boolean {
    return this.#attendance.runtime.relay.startAt === 'event' && record === null && committed.size === 0
  }

  async #reasonToOpen({ transactionalId }: LaneId, record: FenceRecord | null): Promise<SweepReason | null> {
    const { clock, cluster } = this.#attendance.runtime
    if (record === null) return 'no fence record'
    if (record.owner !== null && !isExpired(record, clock.now())) return null
    if (record.owner !== null || record.dirty || record.resetTo !== null) return 'left behind'
    if (record.committedAtMs === null || clock.now() - record.committedAtMs >= this.#idleMs) return 'idle'
    const last = await openTransactionOf(cluster, transactionalId, this.#attendance.deadline)
    return last?.state === 'Ongoing' ? 'open transaction' : null
  }
}

/** Offsets from the committed one to the last stable one; aborted records and markers count. */
function lagAt({ committed, stableUntil }: Look, partition: number): number | null {
  const [from, until] = [committed.get(partition), stableUntil.get(partition)]
  return from === undefined || until === undefined ? null : Math.max(0, Number(until - from))
}
