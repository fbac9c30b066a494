import type { KafkaEvent } from '../lib/lambda/event.ts'

/** What an event source mapping sends for keyless records that follow each other in one partition. */
export function bellEvent(
  topic: string,
  partition: number,
  firstOffset: number,
  values: readonly Buffer[],
): KafkaEvent {
  const records = values.map((value, index) => ({
    topic,
    partition,
    offset: firstOffset + index,
    timestamp: Date.now(),
    timestampType: 'CREATE_TIME' as const,
    value: value.toString('base64'),
    headers: [],
  }))
  return {
    eventSource: 'SelfManagedKafka',
    bootstrapServers: 'localhost:9092',
    records: { [`${topic}-${partition}`]: records },
  }
}
