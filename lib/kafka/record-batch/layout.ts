import type { CompressionName } from '../compression/inflate.ts'

/**
 * Where the fields of a record batch of magic 2 stand (Kafka: DefaultRecordBatch.java, KIP-98). All integers are
 * big-endian; records follow the header, compressed as a whole when the attributes say so.
 */
export const header = {
  baseOffset: 0, // int64
  length: 8, // int32, counted from behind itself
  partitionLeaderEpoch: 12, // int32
  magic: 16, // int8
  crc: 17, // uint32, CRC32C of all that follows
  attributes: 21, // int16
  lastOffsetDelta: 23, // int32
  baseTimestamp: 27, // int64, milliseconds
  maxTimestamp: 35, // int64, milliseconds
  producerId: 43, // int64
  producerEpoch: 51, // int16
  baseSequence: 53, // int32
  recordCount: 57, // int32
} as const

/** Size of the header, which is also where the records begin. */
export const headerBytes = 61

/** `length` does not count the base offset and itself. */
export const lengthBias = 12

/** The newest record batch format, and the only one that carries producer ids and headers. */
export const magic2 = 2

export const attribute = { compression: 0x07, logAppendTime: 0x08, transactional: 0x10, control: 0x20 } as const

/** The value of the compression bits is the index. */
export const compressionNames = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const satisfies readonly CompressionName[]
