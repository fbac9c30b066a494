import { RelayError } from '../errors.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import type { Bell, BellPartition } from '../relay/bell.ts'
import { decodeEventRecord, type KafkaEventRecord } from './event-record.ts'

/** What an Amazon MSK or self-managed event source mapping sends. Unknown fields are let pass. */
export interface KafkaEvent {
  readonly eventSource: 'aws:kafka' | 'SelfManagedKafka'
  readonly eventSourceArn?: string
  /** Comma-separated `host:port`. */
  readonly bootstrapServers?: string
  /** By topic, a dash and partition: for people only, topic names contain dashes. */
  readonly records: Readonly<Record<string, readonly KafkaEventRecord[]>>
}

export type EventBell = Extract<Bell, { kind: 'event' }>

const eventSources: readonly unknown[] = ['aws:kafka', 'SelfManagedKafka'] satisfies KafkaEvent['eventSource'][]

/**
 * Reads an event as bells, one per topic, partitions ascending. What a record says of its topic and partition counts,
 * never the key of the map. Offsets may have holes and repeat: a bell promises no more than its first and last.
 *
 * Checked at once: the envelope and each record's topic, partition and offset. Keys, values and headers are decoded
 * when `records()` is called, because only `read: 'event'` looks at them. An event without records gives no bell.
 *
 * @throws RelayError EVENT_INVALID naming what was found; from `records()` too.
 * Source: AWS Lambda developer guide, "Using Lambda with Amazon MSK" and "with self-managed Apache Kafka".
 */
export function parseKafkaEvent(event: unknown): readonly EventBell[] {
  const topics = new Map<string, Map<number, KafkaEventRecord[]>>()
  for (const record of recordsOf(event)) {
    const partitions = entryOf(topics, record.topic, () => new Map<number, KafkaEventRecord[]>())
    entryOf(partitions, record.partition, () => []).push(record)
  }
  return [...topics].map(([topic, partitions]) => ({
    kind: 'event',
    topic,
    partitions: [...partitions].sort(([a], [b]) => a - b).map(bellPartition),
  }))
}

function* recordsOf(event: unknown): Generator<KafkaEventRecord> {
  if (!isObject(event)) throw invalid('the event', event, 'an object from a Kafka event source mapping')
  if (!eventSources.includes(event.eventSource)) {
    throw invalid(
      'eventSource',
      event.eventSource,
      "'aws:kafka' or 'SelfManagedKafka'; connect the function to a Kafka event source mapping",
    )
  }
  if (!isObject(event.records)) throw invalid('records', event.records, 'an object of arrays')
  for (const [key, records] of Object.entries(event.records)) {
    if (!Array.isArray(records)) throw invalid(`records['${key}']`, records, 'an array')
    for (const [index, record] of records.entries()) yield checked(record, `records['${key}'][${index}]`)
  }
}

function checked(record: unknown, path: string): KafkaEventRecord {
  if (!isObject(record)) throw invalid(path, record, 'an object')
  if (typeof record.topic !== 'string' || record.topic === '')
    throw invalid(`${path}.topic`, record.topic, 'a topic name')
  if (!isCount(record.partition)) throw invalid(`${path}.partition`, record.partition, 'a whole number, 0 or more')
  if (!isCount(record.offset)) {
    throw invalid(
      `${path}.offset`,
      record.offset,
      `a whole number from 0 to ${Number.MAX_SAFE_INTEGER}: JSON numbers above it are not exact; use the pull function for this topic`,
    )
  }
  return record as unknown as KafkaEventRecord
}

function bellPartition([partition, records]: [number, KafkaEventRecord[]]): BellPartition {
  let first = Number.MAX_SAFE_INTEGER
  let last = 0
  for (const { offset } of records) {
    if (offset < first) first = offset
    if (offset > last) last = offset
  }
  let decoded: readonly KafkaRecord[] | undefined
  return {
    partition,
    firstOffset: BigInt(first),
    lastOffset: BigInt(last),
    records: () => {
      decoded ??= records.map(decodeEventRecord)
      return decoded
    },
  }
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

function invalid(path: string, found: unknown, wanted: string): RelayError {
  return new RelayError('EVENT_INVALID', `${path} is ${describe(found)}; wanted ${wanted}.`, { context: { path } })
}

/** Enough to recognise it, never a whole payload. */
function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (isObject(value)) return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'no fields'}`
  return JSON.stringify(value).slice(0, 80)
}
