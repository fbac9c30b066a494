import { crc32c } from '../crc32c.ts'
import type { TopicPartition } from '../record.ts'
import { FetchedBatch } from './batch.ts'
import { corruptBatch, oldFormat } from './errors.ts'
import { header, headerBytes, lengthBias, magic2 } from './layout.ts'

export type { ControlKind, FetchedBatch } from './batch.ts'

const defaultMaxInflatedBytes = 256 * 1024 * 1024

/**
 * The batches in the `records` bytes of a Fetch answer, oldest first. A batch that is cut off at the end (the broker
 * counts bytes, not batches) is left out: it comes whole with the next fetch.
 *
 * Every batch is checked against its CRC32C before it is handed out; records are decoded when asked for, and take at
 * most `maxInflatedBytes` a batch when decompressed.
 * @throws RelayError CORRUPT_BATCH (checksum, impossible length or format); TOPIC_INVALID for formats before Kafka 0.11.
 */
export function* readBatches(
  bytes: Buffer,
  source: TopicPartition,
  maxInflatedBytes = defaultMaxInflatedBytes,
): Generator<FetchedBatch> {
  for (let at = 0; bytes.length - at > header.magic; ) {
    const sizeBytes = checkedSize(bytes.subarray(at), source)
    if (at + sizeBytes > bytes.length) return
    const batch = bytes.subarray(at, at + sizeBytes)
    checkCrc(batch, source)
    yield new FetchedBatch(batch, source, maxInflatedBytes)
    at += sizeBytes
  }
}

/** The size that the batch claims. Its checksum is not known to be right yet, so nothing else is believed. */
function checkedSize(start: Buffer, source: TopicPartition): number {
  const place = { source, baseOffset: start.readBigInt64BE(header.baseOffset) }
  const magic = start.readInt8(header.magic)
  if (magic === 0 || magic === 1) throw oldFormat(place, magic)
  if (magic !== magic2) throw corruptBatch(place, `its format is ${magic}, known is 2`)
  const sizeBytes = lengthBias + start.readInt32BE(header.length)
  if (sizeBytes < headerBytes)
    throw corruptBatch(place, `it claims ${sizeBytes} bytes, its header alone takes ${headerBytes}`)
  return sizeBytes
}

function checkCrc(batch: Buffer, source: TopicPartition): void {
  const wanted = batch.readUInt32BE(header.crc)
  const found = crc32c(batch, header.attributes)
  if (found === wanted) return
  const place = { source, baseOffset: batch.readBigInt64BE(header.baseOffset) }
  throw corruptBatch(place, `its checksum is ${hex(found)}, its header says ${hex(wanted)}`)
}

const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`
