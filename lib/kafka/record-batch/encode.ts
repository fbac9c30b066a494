import { RelayError } from '../../errors.ts'
import { invariant } from '../../invariant.ts'
import { type Compression, compress } from '../compression/deflate.ts'
import { crc32c } from '../crc32c.ts'
import type { OutputRecord } from '../record.ts'
import { attribute, compressionNames, header, headerBytes, lengthBias, magic2 } from './layout.ts'
import { SpareBuffers } from './spare-buffers.ts'
import { varintBytes } from './varint.ts'
import { recordBodyBytes, writeRecord } from './write-record.ts'

const initialBytes = 4096
const nothing = Buffer.alloc(0)
/** Beyond it a difference of two timestamps is no longer an exact number. Microseconds pass, nanoseconds do not. */
const timestampMaxMs = 2 ** 51

export interface BatchOptions {
  /** Upper bound of the finished batch, header included: `max.message.bytes` of the output topic. */
  readonly maxBytes: number
  /** Default 'none'. The bound holds for the records before compression, so that the broker's bound holds after it. */
  readonly compression?: Compression
  /** Expected size, to allocate once; the buffer grows when it is passed. */
  readonly expectedBytes?: number
  /** Named in errors. */
  readonly topic?: string
  /** Where its bytes come from, and where `recycle` gives them back. */
  readonly spare?: SpareBuffers
}

/** Under whose name and at which place of the partition's sequence a batch is sent. */
export interface BatchIdentity {
  /** -1n without idempotence; then epoch and sequence are -1 too. */
  readonly producerId: bigint
  readonly producerEpoch: number
  /** Sequence number of the first record; the next batch of the partition begins `count` later, modulo 2^31. */
  readonly baseSequence: number
  readonly transactional: boolean
}

/**
 * Builds one record batch of magic 2: records are encoded once, as they come, into the buffer that is sent.
 *
 * `build` with the same identity answers the same bytes (an identical resend, R2). With another identity (a reopened
 * session resends the window) it copies them first: the earlier ones may still wait in a socket and must not change.
 */
export class BatchBuilder {
  private readonly maxBytes: number
  private readonly compression: Compression
  private readonly topic: string | undefined
  private readonly spare: SpareBuffers
  private bytes: Buffer
  private end = headerBytes
  private records = 0
  private baseTimestampMs = 0
  private maxTimestampMs = 0
  private finished: Buffer | undefined
  private built: { readonly identity: BatchIdentity; readonly batch: Buffer } | undefined

  constructor(options: BatchOptions) {
    const { maxBytes, compression = 'none', expectedBytes = initialBytes, topic, spare = new SpareBuffers() } = options
    this.maxBytes = maxBytes
    this.compression = compression
    this.topic = topic
    this.spare = spare
    this.bytes = spare.take(Math.max(headerBytes, Math.min(maxBytes, expectedBytes)))
  }

  get count(): number {
    return this.records
  }

  /** Size of the batch so far, header included, before compression. */
  get sizeBytes(): number {
    return this.end
  }

  /**
   * Adds the record, or answers false when it does not fit: close this batch and begin another.
   * @throws RelayError RECORD_TOO_LARGE when no batch of this bound can hold it; RECORD_INVALID for an impossible timestamp.
   */
  tryAppend(record: OutputRecord): boolean {
    invariant(this.finished === undefined, 'a batch that was built takes no more records')
    const base = this.records === 0 ? timestampOf(record) : this.baseTimestampMs
    const timestampDelta = timestampOf(record) - base
    const bodyBytes = recordBodyBytes(record, timestampDelta, this.records)
    const end = this.end + varintBytes(bodyBytes) + bodyBytes
    if (end > this.maxBytes) return this.refuse(record)
    if (end > this.bytes.length) this.grow(end)
    writeRecord(this.bytes, this.end, record, bodyBytes, timestampDelta, this.records)
    this.maxTimestampMs = this.records === 0 ? base : Math.max(this.maxTimestampMs, record.timestampMs)
    this.baseTimestampMs = base
    this.end = end
    this.records++
    return true
  }

  /** The finished batch. The first call ends the batch: nothing can be added afterwards. */
  build(identity: BatchIdentity): Buffer {
    invariant(this.records > 0 && this.finished !== nothing, 'a batch that is empty or was recycled must not be sent')
    if (this.built !== undefined && isSame(this.built.identity, identity)) return this.built.batch
    this.finished ??= this.finish()
    const batch = this.built === undefined ? this.finished : Buffer.from(this.finished)
    sign(batch, identity)
    this.built = { identity, batch }
    return batch
  }

  /** The end of this batch: its bytes are written anew. Only when no socket can still hold what `build` answered. */
  recycle(): void {
    this.spare.give(this.bytes)
    this.bytes = nothing
    this.finished = nothing
    this.built = undefined
  }

  private refuse(record: OutputRecord): false {
    if (this.records === 0) assertEncodable(record, this.maxBytes, this.topic)
    return false
  }

  private grow(neededBytes: number): void {
    const grown = this.spare.take(Math.min(this.maxBytes, Math.max(neededBytes, this.bytes.length * 2)))
    this.bytes.copy(grown, headerBytes, headerBytes, this.end)
    this.spare.give(this.bytes)
    this.bytes = grown
  }

  /** Header fields that no identity changes, and the records, compressed if that makes them smaller. */
  private finish(): Buffer {
    const compressed = compress(this.compression, this.bytes.subarray(headerBytes, this.end))
    const isSmaller = compressed !== undefined && compressed.length < this.end - headerBytes
    const batch = isSmaller ? Buffer.concat([Buffer.alloc(headerBytes), compressed]) : this.bytes.subarray(0, this.end)
    batch.writeBigInt64BE(0n, header.baseOffset)
    batch.writeInt32BE(batch.length - lengthBias, header.length)
    batch.writeInt32BE(-1, header.partitionLeaderEpoch)
    batch[header.magic] = magic2
    batch.writeInt16BE(isSmaller ? compressionNames.indexOf(this.compression) : 0, header.attributes)
    batch.writeInt32BE(this.records - 1, header.lastOffsetDelta)
    batch.writeBigInt64BE(BigInt(this.baseTimestampMs), header.baseTimestamp)
    batch.writeBigInt64BE(BigInt(this.maxTimestampMs), header.maxTimestamp)
    batch.writeInt32BE(this.records, header.recordCount)
    return batch
  }
}

/**
 * @throws RelayError RECORD_TOO_LARGE unless a batch of at most `maxBytes` can hold the record alone, RECORD_INVALID for
 * an impossible timestamp. `topic` is named in the message.
 */
export function assertEncodable(record: OutputRecord, maxBytes: number, topic?: string): void {
  timestampOf(record)
  const bodyBytes = recordBodyBytes(record, 0, 0)
  const sizeBytes = headerBytes + varintBytes(bodyBytes) + bodyBytes
  if (sizeBytes <= maxBytes) return
  const where = topic === undefined ? 'the output topic' : `topic ${topic}`
  throw new RelayError(
    'RECORD_TOO_LARGE',
    `the record takes ${sizeBytes} bytes as a batch of its own, ${where} accepts ${maxBytes}: raise max.message.bytes of the topic or emit less`,
    { context: { sizeBytes, maxBytes, topic } },
  )
}

function timestampOf({ timestampMs }: OutputRecord): number {
  if (Number.isInteger(timestampMs) && Math.abs(timestampMs) <= timestampMaxMs) return timestampMs
  throw new RelayError(
    'RECORD_INVALID',
    `the timestamp ${timestampMs} is not a whole number of milliseconds between -2^51 and 2^51: emit milliseconds since the epoch`,
    { context: { timestampMs } },
  )
}

function isSame(a: BatchIdentity, b: BatchIdentity): boolean {
  return (
    a.producerId === b.producerId &&
    a.producerEpoch === b.producerEpoch &&
    a.baseSequence === b.baseSequence &&
    a.transactional === b.transactional
  )
}

/** Writes the identity into the header, and the checksum that covers it. */
function sign(batch: Buffer, identity: BatchIdentity): void {
  const others = batch.readInt16BE(header.attributes) & ~attribute.transactional
  batch.writeInt16BE(others | (identity.transactional ? attribute.transactional : 0), header.attributes)
  batch.writeBigInt64BE(identity.producerId, header.producerId)
  batch.writeInt16BE(identity.producerEpoch, header.producerEpoch)
  batch.writeInt32BE(identity.baseSequence, header.baseSequence)
  batch.writeUInt32BE(crc32c(batch, header.attributes), header.crc)
}
