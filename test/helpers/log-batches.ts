import { crc32c } from '../../lib/kafka/crc32c.ts'
import type { OutputRecord } from '../../lib/kafka/record.ts'
import { attribute, header, headerBytes, lengthBias, magic2 } from '../../lib/kafka/record-batch/layout.ts'
import { varintBytes } from '../../lib/kafka/record-batch/varint.ts'
import { recordBodyBytes, writeRecord } from '../../lib/kafka/record-batch/write-record.ts'

export interface LogBatch {
  readonly baseOffset: bigint
  /** Offset delta of each record that is still there; ascending. */
  readonly deltas: readonly number[]
  /** Default: the last of `deltas`. Larger: compaction removed the tail. */
  readonly lastOffsetDelta?: number
  readonly producerId?: bigint
  readonly transactional?: boolean
  readonly control?: 'commit' | 'abort'
  readonly key?: Buffer
}

/** A batch as it stands in a broker's log: at an offset, compacted, or a marker. Values are the records' offsets. */
export function logBatch(batch: LogBatch): Buffer {
  const records = batch.deltas.map((delta) => encodeRecord(recordAt(batch, delta), delta))
  const bytes = Buffer.concat([Buffer.alloc(headerBytes), ...records])
  const flags = (batch.transactional ? attribute.transactional : 0) | (batch.control ? attribute.control : 0)
  bytes.writeBigInt64BE(batch.baseOffset, header.baseOffset)
  bytes.writeInt32BE(bytes.length - lengthBias, header.length)
  bytes.writeInt8(magic2, header.magic)
  bytes.writeInt16BE(flags, header.attributes)
  bytes.writeInt32BE(batch.lastOffsetDelta ?? batch.deltas.at(-1) ?? 0, header.lastOffsetDelta)
  bytes.writeBigInt64BE(batch.producerId ?? -1n, header.producerId)
  bytes.writeInt16BE(batch.producerId === undefined ? -1 : 0, header.producerEpoch)
  bytes.writeInt32BE(batch.deltas.length, header.recordCount)
  return resign(bytes)
}

/** The end of a producer's transaction. */
export const marker = (control: 'commit' | 'abort', baseOffset: bigint, producerId: bigint): Buffer =>
  logBatch({ baseOffset, deltas: [0], producerId, transactional: true, control })

/** Makes the checksum right again after a change. */
export function resign(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch, header.attributes), header.crc)
  return batch
}

function recordAt({ baseOffset, control, key }: LogBatch, delta: number): OutputRecord {
  if (control) return { key: Buffer.from([0, 0, 0, control === 'commit' ? 1 : 0]), value: null, timestampMs: 0 }
  return { key: key ?? null, value: Buffer.from(String(baseOffset + BigInt(delta))), timestampMs: 0 }
}

function encodeRecord(record: OutputRecord, delta: number): Buffer {
  const bodyBytes = recordBodyBytes(record, 0, delta)
  const bytes = Buffer.alloc(varintBytes(bodyBytes) + bodyBytes)
  writeRecord(bytes, 0, record, bodyBytes, 0, delta)
  return bytes
}
