import { messageOf, RelayError } from '../../errors.ts'
import { type TopicPartition, tpKey } from '../record.ts'

/** A batch, named by where it begins. */
export interface BatchPlace {
  readonly source: TopicPartition
  readonly baseOffset: bigint
}

const contextOf = ({ source, baseOffset }: BatchPlace) => ({ ...source, offset: String(baseOffset) })
const nameOf = ({ source, baseOffset }: BatchPlace) => `the batch at offset ${baseOffset} of ${tpKey(source)}`

/** Fetched again first: the damage may be on the way or on one replica. */
export function corruptBatch(place: BatchPlace, why: string, cause?: unknown): RelayError {
  return new RelayError(
    'CORRUPT_BATCH',
    `${nameOf(place)}: ${why}; it is fetched again, if it stays so the log is damaged: check the leader's disk or move the leadership`,
    { context: contextOf(place), cause },
  )
}

export const malformedBatch = (place: BatchPlace, cause: unknown): RelayError =>
  corruptBatch(place, `its records cannot be read, ${messageOf(cause)}`, cause)

export function oldFormat(place: BatchPlace, magic: number): RelayError {
  return new RelayError(
    'TOPIC_INVALID',
    `${nameOf(place)} has message format ${magic}, wanted 2 (Kafka 0.11 and later): copy the topic with a current client, or start after it`,
    { context: { ...contextOf(place), magic } },
  )
}

export function unknownCompression(place: BatchPlace, bits: number): RelayError {
  return new RelayError(
    'UNKNOWN_COMPRESSION',
    `${nameOf(place)} has compression ${bits}, known are 0 to 4 (none, gzip, snappy, lz4, zstd): update Fencepost, or reset the lane past it`,
    { context: { ...contextOf(place), compression: bits } },
  )
}

export function inflatesTooFar(place: BatchPlace, maxBytes: number): RelayError {
  return new RelayError(
    'BATCH_TOO_LARGE',
    `${nameOf(place)} takes more than ${maxBytes} bytes when decompressed: raise the bound together with the function's memory`,
    { context: { ...contextOf(place), maxBytes } },
  )
}
