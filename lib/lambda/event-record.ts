import { RelayError } from '../errors.ts'
import type { Header, KafkaRecord } from '../kafka/record.ts'

/** One record in an event, as JSON carries it. */
export interface KafkaEventRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** Milliseconds since the epoch. */
  readonly timestamp?: number
  readonly timestampType?: string
  /** base64. Keyless records come with null, without the field, or with an empty string. */
  readonly key?: string | null
  /** base64. Tombstones come with null or without the field. */
  readonly value?: string | null
  /** One object per header, in order; bytes as Java has them, from -128 to 127. */
  readonly headers?: readonly Readonly<Record<string, readonly number[] | null>>[] | null
}

/** @throws RelayError EVENT_INVALID */
export function decodeEventRecord(record: KafkaEventRecord): KafkaRecord {
  const at = `record ${record.topic}-${record.partition}@${record.offset}`
  return {
    topic: record.topic,
    partition: record.partition,
    offset: BigInt(record.offset),
    timestampMs: typeof record.timestamp === 'number' ? record.timestamp : -1,
    timestampType: record.timestampType === 'LOG_APPEND_TIME' ? 'LogAppendTime' : 'CreateTime',
    key: bytesOf(record.key, `${at}: key`),
    value: bytesOf(record.value, `${at}: value`),
    headers: headersOf(record.headers, at),
  }
}

/** Buffer.from stops silently at the first character that is not base64: the length shows it. */
function bytesOf(text: unknown, what: string): Buffer | null {
  if (text === null || text === undefined) return null
  if (typeof text !== 'string') throw invalid(`${what} is a ${typeof text}; wanted base64, null or nothing.`)
  const bytes = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (text.length % 4 !== 0 || bytes.length !== (text.length / 4) * 3 - padding) {
    throw invalid(`${what} has ${text.length} characters that are not base64.`)
  }
  return bytes
}

function headersOf(headers: unknown, at: string): readonly Header[] {
  if (headers === null || headers === undefined) return []
  if (!Array.isArray(headers)) throw invalid(`${at}: headers are a ${typeof headers}; wanted an array.`)
  return headers.flatMap((header) => Object.entries(header ?? {}).map(([key, value]) => headerOf(key, value, at)))
}

/** Buffer.from wraps modulo 256, which is what signed bytes need. */
function headerOf(key: string, value: unknown, at: string): Header {
  if (value === null) return { key, value: null }
  const isBytes = Array.isArray(value) && value.every((byte) => Number.isInteger(byte) && byte >= -128 && byte <= 255)
  if (!isBytes) throw invalid(`${at}: header '${key}' is not an array of bytes from -128 to 127.`)
  return { key, value: Buffer.from(value as number[]) }
}

const invalid = (message: string): RelayError => new RelayError('EVENT_INVALID', message)
