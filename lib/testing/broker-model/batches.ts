import { crc32c } from '../../kafka/crc32c.ts'
import type { TopicPartition } from '../../kafka/record.ts'
import { type FetchedBatch, readBatches } from '../../kafka/record-batch/decode.ts'
import { BatchBuilder } from '../../kafka/record-batch/encode.ts'
import { attribute, header } from '../../kafka/record-batch/layout.ts'

/** Sequences are counted from 0 to 2^31 - 1 and begin anew behind it. */
const sequenceMax = 0x7fffffff
const markerBytesMax = 1024

/** A batch as it stands in the log: its bytes, stamped by the broker, and its header read out of them. */
export interface StoredBatch {
  readonly bytes: Buffer
  readonly batch: FetchedBatch
}

export interface Marker {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly coordinatorEpoch: number
  readonly commit: boolean
}

/** Sequence number of the batch's last record; wraps inside a batch too (Kafka: `DefaultRecordBatch.incrementSequence`). */
export function lastSequenceOf(batch: FetchedBatch): number {
  return (batch.baseSequence + Number(batch.lastOffset - batch.baseOffset)) % (sequenceMax + 1)
}

/** Whether `next` may follow `last`, -1 being "nothing yet" (Kafka: `ProducerAppendInfo.inSequence`). */
export const isInSequence = (last: number, next: number): boolean =>
  next === last + 1 || (next === 0 && last === sequenceMax)

/**
 * A copy with the offset and leader epoch that the leader assigns; neither is covered by the checksum. `appendTimeMs`
 * replaces the timestamps in topics of LogAppendTime, and the checksum with them (Kafka: `LogValidator`).
 */
export function stamp(
  bytes: Buffer,
  source: TopicPartition,
  baseOffset: bigint,
  leaderEpoch: number,
  appendTimeMs: number | null,
): StoredBatch {
  const copy = Buffer.from(bytes)
  copy.writeBigInt64BE(baseOffset, header.baseOffset)
  copy.writeInt32BE(leaderEpoch, header.partitionLeaderEpoch)
  if (appendTimeMs !== null) {
    copy.writeInt16BE(copy.readInt16BE(header.attributes) | attribute.logAppendTime, header.attributes)
    copy.writeBigInt64BE(BigInt(appendTimeMs), header.maxTimestamp)
    copy.writeUInt32BE(crc32c(copy, header.attributes), header.crc)
  }
  return { bytes: copy, batch: only(copy, source) }
}

/** The control batch that ends a transaction in one partition (Kafka: `EndTransactionMarker.java`, KIP-98). */
export function markerBatch(marker: Marker, timestampMs: number): Buffer {
  const key = Buffer.alloc(4)
  key.writeInt16BE(marker.commit ? 1 : 0, 2)
  const value = Buffer.alloc(6)
  value.writeInt32BE(marker.coordinatorEpoch, 2)
  const builder = new BatchBuilder({ maxBytes: markerBytesMax })
  builder.tryAppend({ key, value, timestampMs })
  const { producerId, producerEpoch } = marker
  const bytes = builder.build({ producerId, producerEpoch, baseSequence: -1, transactional: true })
  bytes.writeInt16BE(bytes.readInt16BE(header.attributes) | attribute.control, header.attributes)
  bytes.writeUInt32BE(crc32c(bytes, header.attributes), header.crc)
  return bytes
}

function only(bytes: Buffer, source: TopicPartition): FetchedBatch {
  const [batch] = readBatches(bytes, source)
  if (batch === undefined) throw new Error('a batch without a whole header')
  return batch
}
