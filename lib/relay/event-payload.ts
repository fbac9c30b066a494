import type { KafkaRecord } from '../kafka/record.ts'
import { type Bell, ringsFor } from './bell.ts'
import type { ReadLimits, ReadWindow } from './lane-reader.ts'

type Positions = ReadonlyMap<number, bigint>

/**
 * `read: 'event'`: the next window out of the event itself, which saves the fetch. Only where its records follow on from
 * the position without a hole; null otherwise, and the log is read. Contiguity cannot show aborted transactions or a topic
 * made anew (P13), so only relays without the exactly-once promise may ask for it (check-definition.ts).
 */
export function windowFromEvent(
  bell: Bell,
  positions: Positions,
  targets: Positions,
  { recordsMax }: ReadLimits,
): ReadWindow | null {
  const behind = [...positions].filter(([partition, from]) => from < (targets.get(partition) ?? from))
  const records: KafkaRecord[] = []
  const until = new Map(positions)
  for (const [partition, from] of behind) {
    const run = runFrom(ringsFor(bell, partition)?.records() ?? [], from, targets.get(partition) ?? from)
    const kept = run.slice(0, recordsMax - records.length)
    records.push(...kept)
    until.set(partition, from + BigInt(kept.length))
  }
  return records.length > 0 ? { records, until } : null
}

/** The records at from, from + 1, ... as far as they are in the event and below the target. */
function runFrom(payload: readonly KafkaRecord[], from: bigint, target: bigint): KafkaRecord[] {
  const byOffset = new Map(payload.map((record) => [record.offset, record]))
  const run: KafkaRecord[] = []
  for (let next = from; next < target; next++) {
    const record = byOffset.get(next)
    if (!record) break
    run.push(record)
  }
  return run
}
