import { type ExpectedRecords, type History, standing } from './history.ts'

/** Which delivered record is taken for which expected one. Records that are equal in content are interchangeable. */
export interface Matching {
  /** For each expected record: whether it was delivered. */
  readonly isDelivered: Uint8Array
  /**
   * For each output partition, for each delivered record: index of the expected record that it is, or `duplicate`, or
   * `unexplained`.
   */
  readonly meaning: readonly Int32Array[]
  /** For each expected record: 1 when it has equals whose number is wrong or whose sources differ: no order can be told. */
  readonly isOrderUnknown: Uint8Array
}

/** One more than were expected. */
export const duplicate = -1
/** Nothing in the source gives it. */
export const unexplained = -2

const none = -1

/**
 * Pairs what was delivered with what was expected: the first delivered copy of a content with the first expected one, and
 * so on. Of equals, those that must be there come first, so that none of them is missed for one that only may be there.
 *
 * Memory: 13 bytes per expected record beside the table (8 to 16), 4 per delivered one.
 */
export function matchRecords({ expected, outputs }: History): Matching {
  const equals = chainEquals(expected)
  const count = expected.high.length
  const isDelivered = new Uint8Array(count)
  const unpaired = Int32Array.from({ length: count }, (_, index) => index) // of a chain's head: the next one to be paired
  const surplus = new Uint8Array(count) // of a chain's head: more were delivered than expected
  const meaning = outputs.map(({ delivered }) => {
    const meanings = new Int32Array(delivered.high.length)
    for (let at = 0; at < meanings.length; at++) {
      const head = equals.find(delivered.high[at] ?? 0, delivered.low[at] ?? 0)
      meanings[at] = head === none ? unexplained : pair(equals, unpaired, isDelivered, head)
      if (meanings[at] === duplicate) surplus[head] = 1
    }
    return meanings
  })
  return { isDelivered, meaning, isOrderUnknown: findOrderUnknown(expected, equals, unpaired, surplus) }
}

function pair(equals: Equals, unpaired: Int32Array, isDelivered: Uint8Array, head: number): number {
  const next = unpaired[head] ?? none
  if (next === none) return duplicate
  unpaired[head] = equals.next[next] ?? none
  isDelivered[next] = 1
  return next
}

/** Expected records of equal content, chained; an open-addressed table leads to the head of each chain. */
interface Equals {
  readonly next: Int32Array
  readonly heads: readonly number[] | Int32Array
  find(high: number, low: number): number
}

function chainEquals(expected: ExpectedRecords): Equals {
  const { high, low } = expected
  const next = new Int32Array(high.length).fill(none)
  const slots = new Int32Array(tableSize(high.length)).fill(none)
  const slotOf = (wantedHigh: number, wantedLow: number): number => {
    const mask = slots.length - 1
    for (let slot = wantedLow & mask; ; slot = (slot + 1) & mask) {
      const head = slots[slot] ?? none
      if (head === none || (high[head] === wantedHigh && low[head] === wantedLow)) return slot
    }
  }
  // Whatever is chained last comes first.
  for (const rank of [standing.ahead, standing.allowed, standing.required]) {
    for (let index = high.length - 1; index >= 0; index--) {
      if (expected.standing[index] !== rank) continue
      const slot = slotOf(high[index] ?? 0, low[index] ?? 0)
      next[index] = slots[slot] ?? none
      slots[slot] = index
    }
  }
  return { next, heads: slots, find: (wantedHigh, wantedLow) => slots[slotOf(wantedHigh, wantedLow)] ?? none }
}

/** At most half full, so that a search is short. */
const tableSize = (records: number): number => 2 ** Math.ceil(Math.log2(Math.max(2, records * 2)))

function findOrderUnknown(
  expected: ExpectedRecords,
  { heads, next }: Equals,
  unpaired: Int32Array,
  surplus: Uint8Array,
): Uint8Array {
  const isUnknown = new Uint8Array(expected.high.length)
  for (const head of heads) {
    if (head === none || next[head] === none) continue
    const missing = unpaired[head] ?? none
    const isMissing = missing !== none && expected.standing[missing] === standing.required
    if (!isMissing && surplus[head] === 0 && isOneSource(expected, next, head)) continue
    for (let index = head; index !== none; index = next[index] ?? none) isUnknown[index] = 1
  }
  return isUnknown
}

function isOneSource({ source }: ExpectedRecords, next: Int32Array, head: number): boolean {
  for (let index = head; index !== none; index = next[index] ?? none) if (source[index] !== source[head]) return false
  return true
}
