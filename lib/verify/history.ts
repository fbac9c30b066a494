import type { FenceRecord } from '../fencing/fence-record.ts'
import type { TopicPartition } from '../kafka/record.ts'
import type { CommitMetadata } from '../relay/commit-metadata.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'

/**
 * What was found out about one relay, as plain data: everything that the checks judge, and nothing that they would have to
 * ask for. Offsets of single records are numbers, exact below 2^53, because there are millions of them.
 */
export interface History {
  readonly relay: string
  readonly guarantee: CompiledRelay['guarantee']
  /** How `expected` was made: with the relay's own transform, or one for each id found in the source. */
  readonly by: 'transform' | 'ids'
  readonly clusterId: string
  /** When the fence records were read, by the verifier's clock. */
  readonly fencesReadAtMs: number
  readonly lanes: readonly LaneState[]
  readonly sources: readonly SourceLog[]
  readonly outputs: readonly OutputLog[]
  readonly expected: ExpectedRecords
  readonly deadLetters: DeadLetterCounts
  readonly openTransactions: readonly OpenTransaction[]
}

export interface LaneState {
  readonly transactionalId: string
  /** That the coordinator knows for the id now; null when it knows none. */
  readonly producerId: bigint | null
  /** Null when there is none; 'not read' when no fence store was given. */
  readonly fence: FenceState | null | 'not read'
}

/** What the checks need of a fence record. */
export type FenceState = Pick<
  FenceRecord,
  'lineage' | 'token' | 'dirty' | 'owner' | 'leaseUntilMs' | 'stopped' | 'committedUntil' | 'resetTo'
>

/** One partition of the source. */
export interface SourceLog extends TopicPartition {
  readonly topicId: string
  /** Of the lane that owns it. */
  readonly transactionalId: string
  readonly logStart: bigint
  /** Last stable offset: as far as a relay can come. */
  readonly stableEnd: bigint
  /** High watermark. */
  readonly end: bigint
  /** The first record that is judged. */
  readonly from: bigint
  /**
   * What is known of records before `from`: nothing was relayed (`start`), some may have been (`older`), or the relay may
   * have started behind `from` only (`unknown start`).
   */
  readonly before: 'start' | 'older' | 'unknown start'
  /** Offsets of the range whose records compaction has removed. */
  readonly removed: bigint
  /** Committed before the outputs were read: everything below must be in them. Null: nothing is committed. */
  readonly committed: bigint | null
  /** Committed after the outputs were read: nothing from here on may be in them. */
  readonly committedAfter: bigint | null
  /** As far as the relay has come: committed, or remembered by a clean fence record when Kafka has forgotten it. */
  readonly relayedUntil: bigint
  /** Of the later offset; null when it is not of this product. */
  readonly metadata: CommitMetadata | null
  /** Records that readers see in [from, committed), or as far as is remembered. */
  readonly records: number
  readonly transactions: readonly LogTransaction[]
}

/** One partition of an output topic, dead letters included, as read_committed readers see it. */
export interface OutputLog extends TopicPartition {
  readonly logStart: bigint
  /** What was read: [from, until). */
  readonly from: bigint
  readonly until: bigint
  /** High watermark after the source offsets had been read; above `until` if an open transaction holds readers back. */
  readonly end: bigint
  /** Offsets of [from, until) whose records compaction has removed. */
  readonly removed: bigint
  /** A time is judged, and the broker has dated records by its own clock: their source may have another date. */
  readonly isDatedAnew: boolean
  readonly delivered: DeliveredRecords
  readonly transactions: readonly LogTransaction[]
  /** Who holds readers back. */
  readonly heldBy: readonly HoldingProducer[]
}

/** A transaction as the log of one partition shows it. */
export interface LogTransaction {
  readonly producerId: bigint
  /** Of its first record; of its marker when it has none here. */
  readonly producerEpoch: number
  readonly firstOffset: bigint
  /** Of its marker; null while there is none. */
  readonly markerOffset: bigint | null
  readonly fate: 'committed' | 'aborted' | 'open'
  /** Records that readers are shown, and those that they are not. */
  readonly visible: number
  readonly hidden: number
}

/** A transaction of one of the relay's ids that its coordinator called unfinished from beginning to end. */
export interface OpenTransaction {
  readonly transactionalId: string
  readonly state: string
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly startedAtMs: number
  readonly partitions: readonly string[]
}

/** A producer with an open transaction in a partition, as the partition's leader knows it. */
export interface HoldingProducer {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly fromOffset: bigint
}

/** Visible records of one output partition in log order; one entry in each column. */
export interface DeliveredRecords {
  readonly high: Int32Array
  readonly low: Int32Array
  readonly offset: Float64Array
  /** Index in the partition's `transactions`; -1: written outside of any. */
  readonly transaction: Int32Array
}

/**
 * What the source gives: for each source partition in turn, its records in order, for each record its outputs in order.
 * One entry in each column.
 */
export interface ExpectedRecords {
  readonly high: Int32Array
  readonly low: Int32Array
  /** Index in `sources`. */
  readonly source: Int32Array
  /** Of the source record. */
  readonly offset: Float64Array
  /** Index in `outputs`; -1: anywhere. */
  readonly output: Int32Array
  /** See `standing`. */
  readonly standing: Uint8Array
}

/** How an expected record stands to the committed offsets. */
export const standing = {
  /** Below the offset committed before the outputs were read: must be there. */
  required: 0,
  /** Committed while the outputs were read: may be there. */
  allowed: 1,
  /** Not committed: must not be there. */
  ahead: 2,
} as const

export interface DeadLetterCounts {
  /** Of this relay, visible. */
  readonly found: number
  /** Those whose record passes when it is transformed again. */
  readonly notReproduced: number
}
