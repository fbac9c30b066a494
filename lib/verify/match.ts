import { type ExpectedRecords, type History, standing } from './history.ts'

/** Which delivered record is taken for which expected one. */
export interface Matching {
  /** For each output partition, for each delivered record: index of the expected record that it is, or one of `meaning`. */
  readonly meanings: readonly Int32Array[]
  /** For each expected record: 1 when it was delivered. */
  readonly isDelivered: Uint8Array
  /** For each expected record: 1 when no order can be told of it, because it has equals of which it cannot be told apart. */
  readonly isOrderUnknown: Uint8Array
}

export const meaning = {
  /** One more than were expected. */
  duplicate: -1,
  /** Nothing in the source gives it. */
  unexplained: -2,
} as const

const none = -1

/**
 * Pairs what was delivered with what was expected. Records of equal content are interchangeable: the first that was
 * delivered is taken for the first that was expected, and so on, those that must be there before those that only may be.
 *
 * So a loss and a duplicate are told exactly. The order of equals is told unless one of them is missing or surplus, or
 * they come from several source partitions: then whichever is where cannot be known.
 */
export function matchRecords({ expected, outputs }: History): Matching {
  const equals = chainEquals(expected)
  const pairing = new Pairing(expected, equals)
  const meanings = outputs.map(({ delivered: { high, low } }) => {
    const found = new Int32Array(high.length)
    for (let at = 0; at < found.length; at++) found[at] = pairing.take(equals.find(high[at] ?? 0, low[at] ?? 0))
    return found
  })
  return { meanings, isDelivered: pairing.isDelivered, isOrderUnknown: pairing.findOrderUnknown() }
}

class Pairing {
  readonly isDelivered: Uint8Array
  private readonly expected: ExpectedRecords
  private readonly equals: Equals
  /** For the head of a chain: its next record to be paired, or none. */
  private readonly unpaired: Int32Array
  /** For the head of a chain: 1 when more were delivered than expected. */
  private readonly isSurplus: Uint8Array

  constructor(expected: ExpectedRecords, equals: Equals) {
    const count = expected.high.length
    this.expected = expected
    this.equals = equals
    this.isDelivered = new Uint8Array(count)
    this.isSurplus = new Uint8Array(count)
    this.unpaired = new Int32Array(count)
    for (let index = 0; index < count; index++) this.unpaired[index] = index
  }

  take(head: number): number {
    if (head === none) return meaning.unexplained
    const index = this.unpaired[head] ?? none
    if (index === none) {
      this.isSurplus[head] = 1
      return meaning.duplicate
    }
    this.unpaired[head] = this.equals.next[index] ?? none
    this.isDelivered[index] = 1
    return index
  }

  findOrderUnknown(): Uint8Array {
    const isUnknown = new Uint8Array(this.expected.high.length)
    for (const head of this.equals.heads) {
      if (head === none || this.equals.next[head] === none || this.isOrderKnown(head)) continue
      for (const index of this.chain(head)) isUnknown[index] = 1
    }
    return isUnknown
  }

  private isOrderKnown(head: number): boolean {
    const { source, standing: standings } = this.expected
    if (this.isSurplus[head] === 1) return false
    for (const index of this.chain(head)) {
      if (source[index] !== source[head]) return false
      if (this.isDelivered[index] === 0 && standings[index] === standing.required) return false
    }
    return true
  }

  private *chain(head: number): Generator<number> {
    for (let index = head; index !== none; index = this.equals.next[index] ?? none) yield index
  }
}

/** Expected records of equal content, chained. */
interface Equals {
  readonly next: Int32Array
  /** With holes. */
  readonly heads: Int32Array
  /** Head of the chain with this content. */
  find(high: number, low: number): number
}

/** An open-addressed table leads to the head of each chain: at most half full, 8 to 16 bytes a record. */
function chainEquals({ high, low, standing: standings }: ExpectedRecords): Equals {
  const count = high.length
  const next = new Int32Array(count).fill(none)
  const heads = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(2, count * 2)))).fill(none)
  const mask = heads.length - 1
  const slotOf = (wantedHigh: number, wantedLow: number): number => {
    for (let slot = wantedLow & mask; ; slot = (slot + 1) & mask) {
      const head = heads[slot] ?? none
      if (head === none || (high[head] === wantedHigh && low[head] === wantedLow)) return slot
    }
  }
  // What is chained last comes first.
  for (const rank of [standing.ahead, standing.allowed, standing.required]) {
    for (let index = count - 1; index >= 0; index--) {
      if (standings[index] !== rank) continue
      const slot = slotOf(high[index] ?? 0, low[index] ?? 0)
      next[index] = heads[slot] ?? none
      heads[slot] = index
    }
  }
  return { next, heads, find: (wantedHigh, wantedLow) => heads[slotOf(wantedHigh, wantedLow)] ?? none }
}
