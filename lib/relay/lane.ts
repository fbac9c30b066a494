import type { Deadline } from '../clock.ts'
import type { RelayError } from '../errors.ts'
import type { FenceHandle } from '../fencing/fence.ts'
import type { FenceRecord } from '../fencing/fence-record.ts'
import type { Renewal } from '../fencing/renewal.ts'
import type { IdempotentProducer } from '../transaction/idempotent-producer.ts'
import type { TransactionSession } from '../transaction/session.ts'
import type { Bell } from './bell.ts'
import type { LaneId } from './lane-id.ts'
import type { LaneReader } from './lane-reader.ts'
import type { RelayTopics } from './relay-topics.ts'
import type { RelayRuntime } from './runtime.ts'
import { WindowSink } from './window-sink.ts'

/** A lane that this invocation owns, between acquire and release: what is fixed, and what changes with each window. */
export interface OpenLane {
  readonly runtime: RelayRuntime
  readonly id: LaneId
  readonly topics: RelayTopics
  readonly bell: Bell
  readonly fence: FenceHandle
  /** The record as step 1 found it; null when this acquire made it. */
  readonly found: FenceRecord | null
  readonly deadline: Deadline
  /** Prolongs the lease while work goes on, and tells when it is lost. */
  readonly renewal: Renewal
  readonly reader: LaneReader
  /** Emptied for each window; made anew when a bound of its topics changed. */
  sink: WindowSink
  session: TransactionSession
  /** Only for the guarantees below exactly-once. */
  producer: IdempotentProducer | null
  /** Guarantee `none`: resolves when all outputs so far were acknowledged or given up. */
  outputsUnderway: Promise<void> | null
  /** Next offset to read per partition. Nothing is committed beyond them in this invocation; before it, only once they are `confirmed`. */
  positions: ReadonlyMap<number, bigint>
  /**
   * Whether the positions are more than the answer of one broker, which may be an old coordinator's and too low (P1). A
   * commit makes sure (step 9). Until then the record must stay dirty: it would remember less than was committed.
   */
  confirmed: boolean
  /** Source records per window at most; lowered when a refusal asks for smaller windows. */
  recordsCap: number
  /** The same by what the transform manages in its time, as far as this container knows. */
  recordsInTime: number
  /** Source records of the window last tried. */
  recordsTried: number
  /** Records that can never pass, and why: dead-lettered, skipped or a stop, as the relay says. */
  readonly rejected: Map<string, RelayError>
  /** Rejection key of the first record of the window last tried: the culprit when it was alone. */
  lastRecord: string | null
  /** Deaths at work since the position last moved: announces and halves windows while above 0. */
  readonly attempts: number
  /** Windows committed since the lane was opened. */
  commits: number
  /** Of the last commit since the lane was opened, windows or not; null: none. */
  committedAtMs: number | null
  /** Fences since the last commit that only another owner explains (R4). */
  fencesUnexplained: number
  /** When the last transaction was begun. */
  transactionBeganMs: number
  /** New sessions since the last commit. */
  reopened: number
  /** A transaction whose end nobody knows: the record must stay dirty. */
  outcomeUnknown: boolean
  /** Duration of the dearest window so far: the next one starts only if as much time is left (R10). */
  windowMsMax: number
}

export type LaneStart = Pick<
  OpenLane,
  | 'runtime'
  | 'id'
  | 'topics'
  | 'bell'
  | 'fence'
  | 'found'
  | 'deadline'
  | 'renewal'
  | 'reader'
  | 'session'
  | 'positions'
  | 'confirmed'
  | 'attempts'
  | 'committedAtMs'
>

export function newLane(start: LaneStart): OpenLane {
  const { runtime, id } = start
  const { recordsMax } = runtime.relay.window
  return {
    ...start,
    sink: newSink(start),
    producer: null,
    outputsUnderway: null,
    recordsCap: recordsMax,
    recordsInTime: Math.min(recordsMax, runtime.warm.get(id.transactionalId)?.recordsInTime ?? recordsMax),
    recordsTried: 0,
    rejected: new Map(),
    lastRecord: null,
    commits: 0,
    fencesUnexplained: 0,
    reopened: 0,
    transactionBeganMs: 0,
    outcomeUnknown: false,
    windowMsMax: 0,
  }
}

export const newSink = ({ fence, runtime }: Pick<OpenLane, 'fence' | 'runtime'>): WindowSink =>
  new WindowSink(fence.record.outputPartitions, runtime.batchBytesMax)

/** Positions for logs and progress: partition -> offset, as decimal strings. */
export const positionsText = (positions: ReadonlyMap<number, bigint>): Record<string, string> =>
  Object.fromEntries([...positions].map(([partition, offset]) => [partition, offset.toString()]))
