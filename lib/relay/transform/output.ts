import { type AnyCodec, type Codec, isNullable } from '../../codecs/codec.ts'
import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import { partitionFor } from '../../kafka/partitioner.ts'
import type { Header, Output, OutputRecord } from '../../kafka/record.ts'
import { isPromiseLike } from '../../promise-like.ts'
import type { HeadersToEmit } from '../definition/emit.ts'
import type { Emission } from './call.ts'
import { recordId } from './source-record.ts'

/**
 * What an emission did not say comes from its source record: key, timestamp, headers. A partition that it names is
 * checked by the sink.
 * @throws RelayError ENCODE_FAILED
 */
export function encodeOutput(emission: Emission, partitionCount: (topic: string) => number): Output {
  const { options, source, output } = emission
  const topic = output.topic.name
  const record = encodeBytes(emission)
  if (options.partition !== undefined) return { topic, partition: options.partition, record }
  const question = { key: record.key, sourcePartition: source.partition, partitionCount: partitionCount(topic) }
  return { topic, partition: partitionFor(question), record }
}

function encodeBytes({ output, value, options, source }: Emission): OutputRecord {
  try {
    return {
      key: options.key === undefined ? source.key : encodeKey(output.topic.key, options.key),
      value: encodeValue(output.topic.value, value),
      headers: options.headers === undefined ? source.headers : encodeHeaders(options.headers),
      timestampMs: options.timestamp === undefined ? source.timestampMs : checkTimestamp(options.timestamp),
    }
  } catch (error) {
    if (isRelayError(error)) throw error
    throw new RelayError(
      'ENCODE_FAILED',
      `emit.${output.name} for record ${recordId(source)} cannot be written to '${output.topic.name}': ${messageOf(error)}`,
      { cause: error },
    )
  }
}

function encodeValue(codec: AnyCodec, value: unknown): Buffer | null {
  if (value === null && isNullable(codec)) return null
  if (value === null) throw new TypeError(`the value is null and ${codec.name} has no null; use nullable(...)`)
  if (isPromiseLike(value)) throw new TypeError('the value is a promise; await it')
  return encodeWith(codec, value)
}

/** Text is a key as it is where keys are bytes. */
function encodeKey(codec: AnyCodec, key: unknown): Buffer | null {
  if (key === null) return null
  if (typeof key === 'string' && codec.name === 'bytes') return Buffer.from(key, 'utf8')
  if (isPromiseLike(key)) throw new TypeError('the key is a promise; await it')
  return encodeWith(codec, key)
}

/** That the value fits the codec was checked where `emit` was compiled; here both have lost their types. */
const encodeWith = (codec: AnyCodec, value: unknown): Buffer => asBuffer((codec as Codec<unknown>).encode(value))

function encodeHeaders(headers: HeadersToEmit): readonly Header[] {
  const pairs = isHeaderList(headers) ? headers.map(({ key, value }) => [key, value] as const) : Object.entries(headers)
  return pairs.map(([key, value]) => ({ key, value: encodeHeader(key, value) }))
}

const isHeaderList = (headers: HeadersToEmit): headers is readonly Header[] => Array.isArray(headers)

function encodeHeader(key: string, value: unknown): Buffer | null {
  if (value === null) return null
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  if (value instanceof Uint8Array) return asBuffer(value)
  throw new TypeError(`header '${key}' is ${typeof value}; give text, bytes or null`)
}

function checkTimestamp(timestamp: number): number {
  if (Number.isSafeInteger(timestamp) && timestamp >= 0) return timestamp
  throw new TypeError(`the timestamp is ${timestamp}; give whole milliseconds since 1970, as Date.getTime() does`)
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
