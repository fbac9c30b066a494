import type { KafkaRecord } from '../record.ts'
import { AbortedFilter, type AbortedTransaction } from './aborted.ts'
import type { FetchedBatch } from './batch.ts'

/** Which part of a partition is wanted: offsets in [from, until), at most `maxRecords` of them. */
export interface Range {
  readonly from: bigint
  readonly until: bigint
  readonly maxRecords?: number
}

/** The end of a transaction as it stands in the log. */
export interface Marker {
  readonly kind: 'commit' | 'abort'
  readonly offset: bigint
  readonly producerId: bigint
  readonly producerEpoch: number
}

export interface ReadRange {
  readonly records: KafkaRecord[]
  /** The position: what to read next. Everything in [from, until) is either in `records` or not for readers. */
  readonly until: bigint
  readonly markers: readonly Marker[]
  /** Size of the batches that `records` come from, also of those that they are only a part of. */
  readonly batchBytes: number
}

/**
 * The records in a range of one partition's fetched batches, and the position behind them (R9): it runs over markers,
 * aborted, empty and compacted batches to one past the last complete batch, and never past `range.until`. When
 * `maxRecords` is reached it is the offset of the first record left out.
 *
 * `aborted` comes with the same Fetch answer; empty for a read_uncommitted read. A batch that cannot be read ends the
 * range before it; only where nothing comes before it is its error thrown.
 */
export function readRange(
  batches: Iterable<FetchedBatch>,
  range: Range,
  aborted: readonly AbortedTransaction[],
): ReadRange {
  const found = new Found(range)
  try {
    readInto(found, batches, range, new AbortedFilter(aborted))
  } catch (error) {
    if (found.until === range.from) throw error
    found.dropUnfinished()
  }
  return found
}

function readInto(found: Found, batches: Iterable<FetchedBatch>, range: Range, filter: AbortedFilter): void {
  for (const batch of batches) {
    if (batch.baseOffset >= range.until) {
      found.reached()
      break
    }
    const isVisible = filter.accepts(batch)
    if (isVisible && !found.keep(batch)) break
    if (batch.isControl) found.note(batch)
    found.passed(batch)
  }
}

class Found implements ReadRange {
  records: KafkaRecord[] = []
  readonly markers: Marker[] = []
  until: bigint
  batchBytes = 0
  private readonly range: Range

  constructor(range: Range) {
    this.range = range
    this.until = range.from
  }

  /** False when a record of the batch has to be left out for want of room. */
  keep(batch: FetchedBatch): boolean {
    const { from, until, maxRecords = Number.POSITIVE_INFINITY } = this.range
    if (batch.nextOffset <= from) return true
    this.batchBytes += batch.sizeBytes
    const isWhole = batch.baseOffset >= from && batch.nextOffset <= until
    if (isWhole && this.records.length + batch.recordCount <= maxRecords) {
      const found = batch.records()
      if (this.records.length === 0) this.records = found
      else for (const record of found) this.records.push(record)
      return true
    }
    for (const record of batch.records()) {
      if (record.offset < from || record.offset >= until) continue
      if (this.records.length >= maxRecords) {
        this.until = record.offset
        return false
      }
      this.records.push(record)
    }
    return true
  }

  note(batch: FetchedBatch): void {
    const { baseOffset: offset, producerId, producerEpoch } = batch
    const kind = batch.controlKind()
    if (kind === 'other' || offset < this.range.from) return
    this.markers.push({ kind, offset, producerId, producerEpoch })
  }

  /** Of the batch that could not be read to its end. */
  dropUnfinished(): void {
    while ((this.records.at(-1)?.offset ?? -1n) >= this.until) this.records.pop()
  }

  /** A batch begins behind the range: whatever the range still held was compacted away. */
  reached(): void {
    if (this.until < this.range.until) this.until = this.range.until
  }

  passed({ nextOffset }: FetchedBatch): void {
    if (nextOffset <= this.until) return
    this.until = nextOffset < this.range.until ? nextOffset : this.range.until
  }
}
