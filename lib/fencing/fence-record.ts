/**
 * The fence record: one row per lane, keyed by its transactional id. It decides who may try, remembers crashes, and
 * remembers the committed position for the day Kafka forgets it (R7). It never makes a window atomic: Kafka does.
 */
export interface FenceRecord {
  /** The lane's transactional id. */
  readonly id: string
  readonly formatVersion: typeof formatVersion
  /**
   * +1 or more with every write. A late copy of an older write of the same owner (an SDK retry still on its way) would
   * pass a condition on token and nonce alone and could move F back or bring a finished reset back to life (P14).
   */
  readonly revision: number
  /** Random, made with the record, part of every committed offset's metadata: tells two deployments with one prefix apart. */
  readonly lineage: string
  /** Fencing number, +1 whenever another owner takes the lane. A plain number: a take-over per millisecond fills 2^53 in 285,000 years. */
  readonly token: number
  /** null: the lane is free. */
  readonly owner: FenceOwner | null
  /** Nonce of the last owner that released: who still knows it may go on where it left off (R7). */
  readonly lastNonce: string | null
  /** Advice only: Kafka fences, so a wrong clock costs work, never data (R14). 0 when free. */
  readonly leaseUntilMs: number
  /** Windows may be committed past `committedUntil`. */
  readonly dirty: boolean
  /** Set at acquire, cleared by every ending that the process lives to see: found set, the last owner died at work. */
  readonly working: boolean
  /** Deaths at work since the position last moved. */
  readonly attempts: number
  /** An operator's reset that is not finished (R16): next offset per partition. */
  readonly resetTo: ReadonlyMap<number, bigint> | null
  readonly intent: FenceIntent | null
  /** F: next offset to read per partition, as of the last clean release. Never decreases under one token, a reset aside. */
  readonly committedUntil: ReadonlyMap<number, bigint>
  /** When an owner last committed the lane's offsets, by its clock: the sweep keeps them from expiring (R7). */
  readonly committedAtMs: number | null
  readonly sourceTopicId: string | null
  readonly clusterId: string | null
  /** Output topic -> partition count, pinned: containers with different metadata must not alternate a key between partitions. */
  readonly outputPartitions: ReadonlyMap<string, number>
  readonly producerId: bigint | null
  readonly producerEpoch: number | null
  readonly snapshot: SnapshotPointer | null
  /** A stopped lane is acquired by nobody but an operator (R12). */
  readonly stopped: FenceStop | null
  /** When the sweep should ring the lane next; null: whenever it likes. */
  readonly wakeAtMs: number | null
  /** Deployment that owns the lane, and since when: an older one stands down, later takes over (a rollback). */
  readonly generation: number
  readonly generationAtMs: number
  /** Deployments that an operator has withdrawn last: they stand down whatever came after them. null: none ever. */
  readonly withdrawn: Withdrawal | null
  /** Earlier withdrawals, which still count: generations above the key, up to the value. null: none. */
  readonly withdrawnBefore: ReadonlyMap<number, number> | null
}

/** A reader refuses newer formats; a writer of format 1 may add attributes, which older writers leave alone. */
export const formatVersion = 1

/** Generations above `above`, up to `upTo`. */
export interface Withdrawal {
  readonly above: number
  readonly upTo: number
  readonly atMs: number
}

export interface FenceOwner {
  /** New at each acquire: tells one invocation's writes from any other's. */
  readonly nonce: string
  readonly container: string
  readonly requestId: string
}

export type FenceStage = 'read' | 'transform' | 'commit'

/** What the owner is about to do, acknowledged before it does it; written only while `attempts` > 0 (DESIGN 3, poison). */
export interface FenceIntent {
  /** Partition and offset of the window's first record. */
  readonly partition: number
  readonly from: bigint
  readonly recordsMax: number
  /** `transform` in a found record means: the owner died in its transform. Endings and acquires move it back to `read`. */
  readonly stage: FenceStage
  /** Deaths at this `from`, with one record in the window, in stage `transform`. */
  readonly deathsAlone: number
  readonly startedAtMs: number
}

/** Where the newest checkpoint of the lane's keyed state is. */
export interface SnapshotPointer {
  readonly key: string
  readonly sha256: string
  readonly position: ReadonlyMap<number, bigint>
  readonly changelogPosition: bigint
  readonly changelogTopicId: string
  readonly atMs: number
}

export interface FenceStop {
  /** Code of the RelayError that stopped the lane. */
  readonly code: string
  readonly message: string
  readonly atMs: number
}

/** What one write sets. Fields that are not named stay as they are in the store, unknown ones of a newer version included. */
export type FenceChanges = Partial<Omit<FenceRecord, 'id' | 'formatVersion' | 'revision'>>
