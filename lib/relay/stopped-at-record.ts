import { RelayError } from '../errors.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import type { TransformCounts } from './compiled-relay.ts'
import type { ReadWindow } from './lane-reader.ts'

/** A record that can never pass and that the relay stops at. When it is thrown the sink holds what all records before it gave, and no more. */
export class StoppedAtRecord extends RelayError {
  readonly record: KafkaRecord
  /** Of the records before it. */
  readonly before: TransformCounts

  constructor(record: KafkaRecord, rejection: RelayError, recordName: string, fix: string, before: TransformCounts) {
    const { topic, partition, offset } = record
    super('RECORD_REJECTED_STOP', `record ${recordName} cannot pass (${rejection.message}); ${fix}`, {
      context: { topic, partition, offset: String(offset), rejectedBy: rejection.code },
      cause: rejection,
    })
    this.record = record
    this.before = before
  }
}

/**
 * Where the part of a window ends that comes before a record: each partition at its first record that is not in that part.
 * Holes and markers below it are passed, as at the end of any window (R9).
 */
export function untilRecord({ records, until }: ReadWindow, record: KafkaRecord): ReadonlyMap<number, bigint> {
  const cut = new Map(until)
  const rest = records.slice(Math.max(0, records.indexOf(record)))
  for (const { partition, offset } of rest.toReversed()) cut.set(partition, offset)
  return cut
}
