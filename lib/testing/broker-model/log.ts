import type { TopicPartition } from '../../kafka/record.ts'
import { type FetchedBatch, readBatches } from '../../kafka/record-batch/decode.ts'
import { type Marker, markerBatch, type StoredBatch, stamp } from './batches.ts'
import { codes } from './codes.ts'
import { ProducerStates } from './producer-state.ts'
import { type SegmentLimits, Segments } from './segments.ts'

export type Isolation = 'read_uncommitted' | 'read_committed'

export interface AppendOptions {
  readonly nowMs: number
  readonly leaderEpoch: number
  readonly segments: SegmentLimits
  /** Timestamps become the broker's (`message.timestamp.type=LogAppendTime`). */
  readonly usesAppendTime: boolean
  /** Transactional, and neither open here nor confirmed by the coordinator. */
  readonly isUnverified: boolean
  readonly startsAtZero: boolean
}

export type MarkerOptions = Pick<AppendOptions, 'nowMs' | 'leaderEpoch' | 'segments'>

export interface AppendResult {
  readonly code: number
  /** -1n unless the code is 0; for a resend the offset of the copy that is there. */
  readonly baseOffset: bigint
}

export interface AbortedRange {
  readonly producerId: bigint
  readonly firstOffset: bigint
  /** Offset of the abort marker. */
  readonly lastOffset: bigint
}

export interface ReadResult {
  readonly code: number
  readonly bytes: Buffer
  /** In the order in which the transactions ended; null for read_uncommitted. */
  readonly aborted: readonly AbortedRange[] | null
}

export interface OffsetAt {
  readonly offset: bigint
  readonly timestampMs: bigint
  readonly leaderEpoch: number
}

const nothing = Buffer.alloc(0)

/**
 * One partition: batches as bytes, what its producers may do next, which transactions are open and which were aborted.
 * Everything is replicated at once, so that the high watermark is the end of the log.
 *
 * Source: Kafka `UnifiedLog`, `LocalLog`, `TransactionIndex.java`; KIP-98 (last stable offset, aborted transactions).
 */
export class PartitionLog {
  readonly source: TopicPartition
  readonly producers = new ProducerStates()
  private batches: StoredBatch[] = []
  private readonly segments = new Segments()
  private aborted: AbortedRange[] = []
  private readonly listeners = new Set<() => void>()
  private start = 0n
  private end = 0n

  constructor(source: TopicPartition) {
    this.source = source
  }

  get startOffset(): bigint {
    return this.start
  }

  get endOffset(): bigint {
    return this.end
  }

  /** No record at or behind it may be shown to read_committed readers. */
  get lastStableOffset(): bigint {
    return this.producers.firstUndecided() ?? this.end
  }

  /** All that is in the log, for tests and verifiers. */
  contents(): readonly FetchedBatch[] {
    return this.batches.map(({ batch }) => batch)
  }

  /** Appends one data batch as the leader does: duplicates are answered, epochs and sequences checked. */
  append(bytes: Buffer, options: AppendOptions): AppendResult {
    const { nowMs, leaderEpoch, usesAppendTime } = options
    const stored = stamp(bytes, this.source, this.end, leaderEpoch, usesAppendTime ? nowMs : null)
    if (stored.batch.producerId < 0n) return this.store(stored, options.segments)
    const duplicate = this.producers.duplicateOf(stored.batch)
    if (duplicate !== null) return { code: codes.NONE, baseOffset: duplicate }
    const code = options.isUnverified
      ? codes.INVALID_TXN_STATE
      : this.producers.check(stored.batch, options.startsAtZero && stored.batch.isTransactional)
    if (code !== codes.NONE) return { code, baseOffset: -1n }
    this.producers.appended(stored.batch)
    return this.store(stored, options.segments)
  }

  /** Ends a producer's transaction here; without an open one the marker is written all the same. */
  appendMarker(marker: Marker, { nowMs, leaderEpoch, segments }: MarkerOptions): number {
    const code = this.producers.checkMarker(marker)
    if (code !== codes.NONE) return code
    const stored = stamp(markerBatch(marker, nowMs), this.source, this.end, leaderEpoch, null)
    const ended = this.producers.ended(marker, nowMs)
    if (ended !== null && !marker.commit) this.aborted.push({ ...ended, lastOffset: stored.batch.lastOffset })
    this.store(stored, segments)
    return codes.NONE
  }

  /**
   * Bytes from the batch that holds `from`, out of one segment, at most `maxBytes` of them; the last batch may be cut in
   * the middle. With `atLeastOne` the first batch comes whole however large it is (KIP-74).
   */
  read(from: bigint, isolation: Isolation, maxBytes: number, atLeastOne: boolean): ReadResult {
    if (from < this.start || from > this.end) return { code: codes.OFFSET_OUT_OF_RANGE, bytes: nothing, aborted: null }
    const bound = this.boundOf(isolation)
    const segmentEnd = this.segments.endBehind(from) ?? this.end
    const isReadable = (last: bigint) => last >= from && last < bound && last < segmentEnd
    const readable = this.batches.filter(({ batch }) => isReadable(batch.lastOffset))
    const taken = take(readable, maxBytes, atLeastOne)
    const bytes = Buffer.concat(taken.map((stored) => stored.bytes))
    const sizeBytes = taken.length === 1 && atLeastOne ? bytes.length : Math.min(bytes.length, maxBytes)
    const until = taken.at(-1)?.batch.nextOffset ?? from
    const aborted = isolation === 'read_committed' ? this.abortedBetween(from, until) : null
    return { code: codes.NONE, bytes: bytes.subarray(0, sizeBytes), aborted }
  }

  /** Where readers of this isolation must stop. */
  boundOf(isolation: Isolation): bigint {
    return isolation === 'read_committed' ? this.lastStableOffset : this.end
  }

  /** The first record at or after a time, below the reader's bound; null when there is none. */
  offsetAt(timestampMs: number, isolation: Isolation): OffsetAt | null {
    const bound = this.boundOf(isolation)
    for (const { batch } of this.batches) {
      if (batch.maxTimestampMs < timestampMs) continue
      const record = batch.records().find((one) => one.timestampMs >= timestampMs && one.offset >= this.start)
      if (record === undefined) continue
      if (record.offset >= bound) return null
      return { offset: record.offset, timestampMs: BigInt(record.timestampMs), leaderEpoch: batch.partitionLeaderEpoch }
    }
    return null
  }

  /** The first record of the highest timestamp; null when the log is empty. */
  newest(): OffsetAt | null {
    const records = this.batches.flatMap(({ batch }) => batch.records())
    const [first, ...rest] = records.filter(({ offset }) => offset >= this.start)
    if (first === undefined) return null
    const { offset, timestampMs } = rest.reduce((best, one) => (one.timestampMs > best.timestampMs ? one : best), first)
    return { offset, timestampMs: BigInt(timestampMs), leaderEpoch: this.epochAt(offset) }
  }

  /** Leader epoch of the batch at the offset; -1 when there is none. */
  epochAt(offset: bigint): number {
    return this.batches.find(({ batch }) => batch.lastOffset >= offset)?.batch.partitionLeaderEpoch ?? -1
  }

  /** Everything below is gone, be it inside a batch (DeleteRecords) or between two (retention). */
  deleteBefore(offset: bigint): void {
    if (offset <= this.start) return
    this.start = offset
    this.batches = this.batches.filter(({ batch }) => batch.lastOffset >= offset)
    this.segments.dropBefore(offset, this.end)
    this.aborted = this.aborted.filter(({ lastOffset }) => lastOffset >= offset)
  }

  /** Deletes the oldest segments whose newest record is older, the one in use aside (`retention.ms`). */
  retain(sinceMs: number): void {
    const oldest = this.segments.oldestSince(sinceMs)
    if (oldest !== null) this.deleteBefore(oldest)
  }

  /** Calls back after each append and each marker, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private store(stored: StoredBatch, limits: SegmentLimits): AppendResult {
    this.segments.hold(stored, limits)
    this.batches.push(stored)
    this.end = stored.batch.nextOffset
    for (const listener of [...this.listeners]) listener()
    return { code: codes.NONE, baseOffset: stored.batch.baseOffset }
  }

  private abortedBetween(from: bigint, until: bigint): readonly AbortedRange[] {
    return this.aborted.filter(({ firstOffset, lastOffset }) => lastOffset >= from && firstOffset < until)
  }
}

/** Whether the bytes are exactly one batch of the current format whose checksum is right. */
export function parseProduced(records: Buffer, source: TopicPartition): readonly FetchedBatch[] {
  return [...readBatches(records, source)]
}

/** As many batches as begin within `maxBytes`. */
function take(batches: readonly StoredBatch[], maxBytes: number, atLeastOne: boolean): readonly StoredBatch[] {
  const taken: StoredBatch[] = []
  let sizeBytes = 0
  for (const stored of batches) {
    if (sizeBytes >= maxBytes && !(atLeastOne && taken.length === 0)) break
    taken.push(stored)
    sizeBytes += stored.bytes.length
  }
  return taken
}
