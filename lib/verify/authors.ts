import { type History, standing } from './history.ts'
import type { Matching } from './match.ts'

/** Producer id -> the lanes whose outputs it wrote, by their transactional ids; none when only the coordinator names it. */
export type Authors = ReadonlyMap<bigint, ReadonlySet<string>>

/**
 * Which producers write for the relay: those that the coordinator names for its ids now, and those that wrote records that
 * its source gives. The log knows no transactional ids, and an id has had other producers before.
 */
export function findAuthors(history: History, matching: Matching): Authors {
  const authors = new Map<bigint, Set<string>>()
  for (const { producerId } of history.lanes) if (producerId !== null) authors.set(producerId, new Set())
  for (const [output, { transactions }] of history.outputs.entries()) {
    for (const [index, lane] of lanesOf(history, matching, output).entries()) {
      const { producerId } = transactions[index] ?? {}
      if (lane === null || producerId === undefined) continue
      const lanes = authors.get(producerId) ?? new Set()
      authors.set(producerId, lane === unknownLane ? lanes : lanes.add(lane))
    }
  }
  return authors
}

/** Of a transaction that has only records which several source partitions give. */
export const unknownLane = ''

/**
 * For each transaction of an output partition the lane that wrote it; null when what is relayed of the source gives none of
 * its records.
 */
export function lanesOf(
  { sources, expected, outputs }: History,
  { meanings, isSourceUnknown }: Matching,
  output: number,
): readonly (string | null)[] {
  const { delivered, transactions = [] } = outputs[output] ?? {}
  const lanes = transactions.map((): string | null => null)
  for (const [at, index] of (meanings[output] ?? []).entries()) {
    const within = delivered?.transaction[at] ?? -1
    if (within < 0 || index < 0 || lanes[within] || expected.standing[index] === standing.ahead) continue
    lanes[within] =
      isSourceUnknown[index] === 1 ? unknownLane : (sources[expected.source[index] ?? 0]?.transactionalId ?? null)
  }
  return lanes
}
