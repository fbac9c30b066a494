import type { KafkaRecord } from '../../lib/kafka/record.ts'
import type { FetchedBatch } from '../../lib/kafka/record-batch/decode.ts'

export interface JudgedRecord {
  readonly record: KafkaRecord
  readonly value: string
  fate: 'committed' | 'aborted' | 'open'
}

/**
 * What became of every record of a partition, read from its batches and markers alone: not with the filter by which
 * relays read, and not from what the broker says about aborted transactions.
 */
export function judgeRecords(batches: readonly FetchedBatch[]): readonly JudgedRecord[] {
  const judged: JudgedRecord[] = []
  const open = new Map<bigint, JudgedRecord[]>()
  for (const batch of batches) {
    if (batch.isControl) {
      const fate = batch.controlKind() === 'commit' ? 'committed' : 'aborted'
      for (const record of open.get(batch.producerId) ?? []) record.fate = fate
      open.delete(batch.producerId)
      continue
    }
    const fate = batch.isTransactional ? 'open' : 'committed'
    const records = batch.records().map((record): JudgedRecord => ({ record, value: String(record.value), fate }))
    judged.push(...records)
    if (batch.isTransactional) open.set(batch.producerId, [...(open.get(batch.producerId) ?? []), ...records])
  }
  return judged
}
