import type { KafkaRecord } from '../../kafka/record.ts'
import type { KafkaEvent } from '../../lambda/event.ts'
import type { KafkaEventRecord } from '../../lambda/event-record.ts'

export type TombstoneForm = 'null' | 'absent'

/** A record on its way into an event, and what it weighs there. */
export interface Entry {
  readonly record: KafkaEventRecord
  readonly jsonBytes: number
  readonly arrivedAtMs: number
}

export function entryOf(record: KafkaRecord, tombstone: TombstoneForm, arrivedAtMs: number): Entry {
  const encoded = encodeRecord(record, tombstone)
  return { record: encoded, jsonBytes: Buffer.byteLength(JSON.stringify(encoded)), arrivedAtMs }
}

/** As Lambda encodes it: base64, header bytes signed as Java has them, names of headers as often as they come. */
export function encodeRecord(record: KafkaRecord, tombstone: TombstoneForm): KafkaEventRecord {
  const { topic, partition, key, value, headers } = record
  return {
    topic,
    partition,
    offset: Number(record.offset),
    timestamp: record.timestampMs,
    timestampType: record.timestampType === 'CreateTime' ? 'CREATE_TIME' : 'LOG_APPEND_TIME',
    ...bytesField('key', key, tombstone),
    ...bytesField('value', value, tombstone),
    headers: headers.map((header) => ({
      [header.key]: header.value === null ? null : [...new Int8Array(header.value)],
    })),
  }
}

function bytesField(name: 'key' | 'value', bytes: Buffer | null, form: TombstoneForm): object {
  if (bytes !== null) return { [name]: bytes.toString('base64') }
  return form === 'null' ? { [name]: null } : {}
}

export function eventOf(bootstrapServers: string, groups: readonly (readonly Entry[])[]): KafkaEvent {
  const records: Record<string, KafkaEventRecord[]> = {}
  for (const entries of groups) {
    const [first] = entries
    if (first) records[groupKey(first.record)] = entries.map(({ record }) => record)
  }
  return { eventSource: 'SelfManagedKafka', bootstrapServers, records }
}

export const groupKey = (place: { readonly topic: string; readonly partition: number }): string =>
  `${place.topic}-${place.partition}`

/** Bytes of an event that has no records yet. */
export const envelopeBytes = (bootstrapServers: string): number =>
  Buffer.byteLength(JSON.stringify(eventOf(bootstrapServers, [])))

/** `"orders-0":[]`; between groups and between records there is a comma more. */
export const groupBytes = (topic: string, partition: number): number =>
  Buffer.byteLength(JSON.stringify(groupKey({ topic, partition }))) + ':[]'.length
