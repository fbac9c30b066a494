import { RelayError } from '../../errors.ts'
import { inflate } from '../compression/inflate.ts'
import { OutputLimitError } from '../compression/output.ts'
import type { KafkaRecord, TopicPartition } from '../record.ts'
import { inflatesTooFar, malformedBatch, unknownCompression } from './errors.ts'
import { attribute, compressionNames, header, headerBytes } from './layout.ts'
import { readRecords } from './read-records.ts'

/** What a control batch says about its producer's transaction; 'other' says nothing about it. */
export type ControlKind = 'commit' | 'abort' | 'other'

/** One batch whose checksum was verified: its header, and its records on demand. */
export class FetchedBatch {
  readonly source: TopicPartition
  readonly sizeBytes: number
  readonly baseOffset: bigint
  /** Of the batch: compaction keeps it even when it removes the last records. */
  readonly lastOffset: bigint
  readonly partitionLeaderEpoch: number
  readonly baseTimestampMs: number
  readonly maxTimestampMs: number
  readonly timestampType: KafkaRecord['timestampType']
  /** -1n when the producer was not idempotent. */
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly isTransactional: boolean
  readonly isControl: boolean
  /** Records that are still there: fewer than offsets after compaction, 0 when all are gone. */
  readonly recordCount: number
  private readonly bytes: Buffer
  private readonly maxInflatedBytes: number

  constructor(bytes: Buffer, source: TopicPartition, maxInflatedBytes: number) {
    const attributes = bytes.readInt16BE(header.attributes)
    this.bytes = bytes
    this.source = source
    this.maxInflatedBytes = maxInflatedBytes
    this.sizeBytes = bytes.length
    this.baseOffset = bytes.readBigInt64BE(header.baseOffset)
    this.lastOffset = this.baseOffset + BigInt(bytes.readInt32BE(header.lastOffsetDelta))
    this.partitionLeaderEpoch = bytes.readInt32BE(header.partitionLeaderEpoch)
    this.baseTimestampMs = Number(bytes.readBigInt64BE(header.baseTimestamp))
    this.maxTimestampMs = Number(bytes.readBigInt64BE(header.maxTimestamp))
    this.timestampType = attributes & attribute.logAppendTime ? 'LogAppendTime' : 'CreateTime'
    this.producerId = bytes.readBigInt64BE(header.producerId)
    this.producerEpoch = bytes.readInt16BE(header.producerEpoch)
    this.baseSequence = bytes.readInt32BE(header.baseSequence)
    this.isTransactional = (attributes & attribute.transactional) !== 0
    this.isControl = (attributes & attribute.control) !== 0
    this.recordCount = bytes.readInt32BE(header.recordCount)
  }

  /** What to read after this batch: one past its last offset, whatever became of its records. */
  get nextOffset(): bigint {
    return this.lastOffset + 1n
  }

  /**
   * All records, in order, as views into the fetched (or decompressed) bytes.
   * @throws RelayError CORRUPT_BATCH, UNKNOWN_COMPRESSION, BATCH_TOO_LARGE
   */
  records(): KafkaRecord[] {
    return this.reading(() => readRecords(this.payload(), { ...this.source, ...this }))
  }

  /** For control batches. 'other' also when compaction has removed the marker's record. */
  controlKind(): ControlKind {
    const key = this.records()[0]?.key
    return key ? this.reading(() => readControlKind(key)) : 'other'
  }

  private payload(): Buffer {
    const bits = this.bytes.readInt16BE(header.attributes) & attribute.compression
    const compression = compressionNames[bits]
    if (compression === undefined) throw unknownCompression(this, bits)
    return inflate(compression, this.bytes.subarray(headerBytes), this.maxInflatedBytes)
  }

  private reading<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      if (error instanceof RelayError) throw error
      throw error instanceof OutputLimitError
        ? inflatesTooFar(this, this.maxInflatedBytes)
        : malformedBatch(this, error)
    }
  }
}

/** Key of a marker: version (int16), then kind (int16) (Kafka: ControlRecordType.java). */
function readControlKind(key: Buffer): ControlKind {
  const kind = key.readInt16BE(2)
  if (kind === 0) return 'abort'
  return kind === 1 ? 'commit' : 'other'
}
