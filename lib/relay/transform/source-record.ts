import { type AnyCodec, isNullable, ValidationError } from '../../codecs/codec.ts'
import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import type { Header, KafkaRecord } from '../../kafka/record.ts'
import type { RawRecord, RelayRecord } from '../definition/relay-record.ts'
import type { Topic } from '../definition/topic.ts'

/** What transforms get: key and value decoded, everything else read from the log's record when it is asked for. */
export class SourceRecord implements RelayRecord {
  readonly source: KafkaRecord
  readonly key: never
  readonly value: unknown

  constructor(source: KafkaRecord, key: unknown, value: unknown) {
    this.source = source
    this.key = key as never // its type is known to the relay's own code only
    this.value = value
  }

  get topic(): string {
    return this.source.topic
  }
  get partition(): number {
    return this.source.partition
  }
  get offset(): bigint {
    return this.source.offset
  }
  get timestamp(): number {
    return this.source.timestampMs
  }
  get headers(): readonly Header[] {
    return this.source.headers
  }
  get raw(): RawRecord {
    return this.source
  }
  get id(): string {
    return recordId(this.source)
  }
}

/** `topic/partition/offset`, for ids and messages. */
export const recordId = (record: KafkaRecord): string => `${record.topic}/${record.partition}/${record.offset}`

/**
 * Decodes before the transform is called, so that a malformed record is never passed on by a branch that did not look.
 * @throws RelayError DECODE_FAILED, VALIDATION_FAILED; CONFIG_INVALID for an asynchronous validator
 */
export function decodeRecord(source: KafkaRecord, topic: Topic): SourceRecord {
  const { key: keyBytes, value: valueBytes } = source
  const key = keyBytes === null ? null : decode('key', source, keyBytes, topic.key)
  if (valueBytes !== null) return new SourceRecord(source, key, decode('value', source, valueBytes, topic.value))
  if (isNullable(topic.value)) return new SourceRecord(source, key, null)
  throw new RelayError(
    'VALIDATION_FAILED',
    `the value of record ${recordId(source)} is null (a tombstone) and ${topic.value.name} has no null; ` +
      `let tombstones through with topic('${topic.name}', nullable(...))`,
  )
}

function decode(part: 'key' | 'value', source: KafkaRecord, bytes: Buffer, codec: AnyCodec): unknown {
  try {
    return codec.decode(bytes)
  } catch (error) {
    if (isRelayError(error)) throw error
    throw new RelayError(
      error instanceof ValidationError ? 'VALIDATION_FAILED' : 'DECODE_FAILED',
      `the ${part} of record ${recordId(source)} (${bytes.length} bytes) is not what ${codec.name} takes: ${messageOf(error)}`,
      { cause: error },
    )
  }
}
