import type { KafkaEvent } from '../lib/lambda/event.ts'
import { keyOf, numberedValue } from './numbered-records.ts'

/** What an event source mapping sends for numbered records of partition 0, whose offsets are their numbers. */
export function bellEvent(topic: string, from: number, until: number): KafkaEvent {
  const partition = 0
  const records = Array.from({ length: until - from }, (_, index) => ({
    topic,
    partition,
    offset: from + index,
    timestamp: Date.now(),
    timestampType: 'CREATE_TIME' as const,
    key: keyOf(from + index).toString('base64'),
    value: numberedValue(from + index).toString('base64'),
    headers: [],
  }))
  return {
    eventSource: 'SelfManagedKafka',
    bootstrapServers: 'localhost:9092',
    records: { [`${topic}-${partition}`]: records },
  }
}
