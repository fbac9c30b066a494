import { RelayError } from '../errors.ts'
import { invariant } from '../invariant.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import type { ReadWindow } from './lane-reader.ts'

/** A record that can never pass and that the relay stops at. */
export class StoppedAtRecord extends RelayError {
  readonly record: KafkaRecord

  constructor(record: KafkaRecord, rejection: RelayError, recordName: string, fix: string) {
    const { topic, partition, offset } = record
    super('RECORD_REJECTED_STOP', `record ${recordName} cannot pass (${rejection.message}); ${fix}`, {
      context: { topic, partition, offset: String(offset), rejectedBy: rejection.code },
      cause: rejection,
    })
    this.record = record
  }
}

/**
 * The part of a window that comes before one of its records: each partition ends at its first record that is not in that
 * part. Holes and markers below it are passed, as at the end of any window (R9).
 */
export function windowBefore({ records, until }: ReadWindow, record: KafkaRecord): ReadWindow {
  const index = records.indexOf(record)
  invariant(index >= 0, 'a window stops at a record of its own', { offset: record.offset.toString() })
  const cut = new Map(until)
  for (const { partition, offset } of records.slice(index).toReversed()) cut.set(partition, offset)
  return { records: records.slice(0, index), until: cut }
}
