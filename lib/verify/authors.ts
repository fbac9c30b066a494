import type { History } from './history.ts'
import type { Matching } from './match.ts'

/** Producer id -> the lanes whose outputs it wrote, by their transactional ids; none when only the coordinator names it. */
export type Authors = ReadonlyMap<bigint, ReadonlySet<string>>

/**
 * Which producers write for the relay: those that the coordinator names for its ids now, and those that wrote records that
 * its source gives. The log knows no transactional ids, and an id has had other producers before.
 */
export function findAuthors(history: History, { meanings }: Matching): Authors {
  const authors = new Map<bigint, Set<string>>()
  for (const { producerId } of history.lanes) if (producerId !== null) authors.set(producerId, new Set())
  for (const [output, { delivered, transactions }] of history.outputs.entries()) {
    const lanes = lanesOf(history, meanings[output] ?? new Int32Array(), delivered.transaction, transactions.length)
    for (const [index, lane] of lanes.entries()) {
      const { producerId } = transactions[index] ?? {}
      if (lane === null || producerId === undefined) continue
      authors.set(producerId, (authors.get(producerId) ?? new Set()).add(lane))
    }
  }
  return authors
}

/** For each transaction of a partition the lane of its first record that the source gives; null when there is none. */
export function lanesOf(
  { sources, expected }: History,
  meanings: Int32Array,
  transaction: Int32Array,
  transactions: number,
): readonly (string | null)[] {
  const lanes: (string | null)[] = Array.from({ length: transactions }, () => null)
  for (let at = 0; at < meanings.length; at++) {
    const within = transaction[at] ?? -1
    const index = meanings[at] ?? -1
    if (within < 0 || index < 0 || lanes[within] !== null) continue
    lanes[within] = sources[expected.source[index] ?? 0]?.transactionalId ?? null
  }
  return lanes
}
