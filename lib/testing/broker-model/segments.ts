import type { StoredBatch } from './batches.ts'

/** `segment.ms` and `segment.bytes`: when the log goes on in a new file. */
export interface SegmentLimits {
  readonly ms: number
  readonly bytes: number
}

interface Segment {
  readonly baseOffset: bigint
  /** Of its first batch: by it the age of the segment is counted, whatever the time is. */
  readonly baseTimestampMs: number
  sizeBytes: number
  newestMs: number
}

/**
 * Into which files a log is cut: a Fetch answer comes out of one, and retention deletes whole ones.
 *
 * Source: Kafka `LogSegment.shouldRoll`, `UnifiedLog.deleteOldSegments`.
 */
export class Segments {
  private all: Segment[] = []

  /** Puts the batch into the segment in use, or begins another. */
  hold({ bytes, batch }: StoredBatch, limits: SegmentLimits): void {
    const { baseOffset, maxTimestampMs } = batch
    const current = this.all.at(-1)
    const isFull = current !== undefined && current.sizeBytes + bytes.length > limits.bytes
    const isOld = current !== undefined && maxTimestampMs - current.baseTimestampMs > limits.ms
    if (current === undefined || isFull || isOld) {
      this.all.push({ baseOffset, baseTimestampMs: maxTimestampMs, sizeBytes: bytes.length, newestMs: maxTimestampMs })
      return
    }
    current.sizeBytes += bytes.length
    current.newestMs = Math.max(current.newestMs, maxTimestampMs)
  }

  /** Where the segment that holds the offset ends; null for the one in use. */
  endBehind(offset: bigint): bigint | null {
    return this.all.find(({ baseOffset }) => baseOffset > offset)?.baseOffset ?? null
  }

  /** Where the log would begin without the segments that are older, the one in use never being deleted. */
  oldestSince(sinceMs: number): bigint | null {
    const kept = this.all.find(({ newestMs }) => newestMs >= sinceMs) ?? this.all.at(-1)
    return kept?.baseOffset ?? null
  }

  dropBefore(offset: bigint, endOffset: bigint): void {
    this.all = this.all.filter((_, index) => (this.all[index + 1]?.baseOffset ?? endOffset) > offset)
  }
}
