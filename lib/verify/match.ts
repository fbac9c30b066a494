import { type ExpectedRecords, type History, standing } from './history.ts'
import { OlderOutputs } from './older-outputs.ts'

/** Which delivered record is taken for which expected one. */
export interface Matching {
  /** For each output partition, for each delivered record: index of the expected record that it is, or one of `meaning`. */
  readonly meanings: readonly Int32Array[]
  /** For each output partition: before this delivered record, outputs of records that the source has no more may stand. */
  readonly olderUntil: readonly number[]
  /** For each expected record: 1 when it was delivered. */
  readonly isDelivered: Uint8Array
  /** For each expected record: 1 when no order can be told of it, because it has equals of which it cannot be told apart. */
  readonly isOrderUnknown: Uint8Array
  /** For each expected record: 1 when another source partition gives its equal, so that nobody can tell whose is whose. */
  readonly isSourceUnknown: Uint8Array
}

export const meaning = {
  /** One more than were expected. */
  duplicate: -1,
  /** Nothing in the source gives it. */
  unexplained: -2,
  /** One more than were expected, where the output of an equal record may stand that the source has no more. */
  duplicateOrOlder: -3,
} as const

const none = -1

/**
 * Pairs what was delivered with what was expected. Records of equal content are interchangeable: the first that was
 * delivered is taken for the first that was expected, and so on, those that must be there before those that only may be.
 * Where some are missing it is the first of them, which retention takes first.
 *
 * So a loss and a duplicate are told exactly. The order of equals is told unless one of them is missing or surplus, or
 * they come from several source partitions: then whichever is where cannot be known.
 */
export function matchRecords(history: History): Matching {
  const { expected, outputs } = history
  const equals = chainEquals(expected)
  const meanings = outputs.map(({ delivered: { high, low } }) => high.map((one, at) => equals.find(one, low[at] ?? 0)))
  const pairing = new Pairing(expected, equals, meanings)
  const older = new OlderOutputs(history, meanings, (head) => pairing.isCertain(head))
  for (const [output, found] of meanings.entries()) {
    const isDatedAnew = outputs[output]?.isDatedAnew ?? false
    for (let at = 0; at < found.length; at++) {
      const head = found[at] ?? none
      const mayBeOlder = head !== none && (isDatedAnew || at < older.until(output, pairing.sourceOf(head)))
      found[at] = pairing.take(head, mayBeOlder)
    }
  }
  return {
    meanings,
    olderUntil: meanings.map((_, output) => older.until(output, null)),
    isDelivered: pairing.isDelivered,
    isOrderUnknown: pairing.findOrderUnknown(),
    isSourceUnknown: pairing.isSourceUnknown,
  }
}

class Pairing {
  readonly isDelivered: Uint8Array
  readonly isSourceUnknown: Uint8Array
  private readonly expected: ExpectedRecords
  private readonly equals: Equals
  /** For the head of a chain: its next record to be paired, or none. */
  private readonly unpaired: Int32Array
  /** For the head of a chain: how many more were delivered than are committed; counts down where older ones may stand. */
  private readonly surplus: Int32Array
  private readonly isSurplus: Uint8Array

  /** `found` has the head of its chain for each delivered record. */
  constructor(expected: ExpectedRecords, equals: Equals, found: readonly Int32Array[]) {
    const count = expected.high.length
    this.expected = expected
    this.equals = equals
    this.isDelivered = new Uint8Array(count)
    this.isSourceUnknown = new Uint8Array(count)
    this.unpaired = new Int32Array(count)
    this.surplus = new Int32Array(count)
    this.isSurplus = new Uint8Array(count)
    for (const heads of found)
      for (const head of heads) if (head !== none) this.surplus[head] = (this.surplus[head] ?? 0) + 1
    for (const head of equals.heads) if (head !== none) this.weigh(head)
  }

  /** Whether each delivered record of this chain is known to be one of the range, and of which source partition. */
  isCertain(head: number): boolean {
    return this.isSurplus[head] === 0 && this.isSourceUnknown[head] === 0
  }

  /** Index of the source partition that gives the chain; null when there are several. */
  sourceOf(head: number): number | null {
    return this.isSourceUnknown[head] === 1 ? null : (this.expected.source[head] ?? 0)
  }

  take(head: number, mayBeOlder: boolean): number {
    if (head === none) return meaning.unexplained
    const surplus = this.surplus[head] ?? 0
    if (mayBeOlder && surplus > 0) {
      this.surplus[head] = surplus - 1
      return meaning.duplicateOrOlder
    }
    const index = this.unpaired[head] ?? none
    if (index === none) return meaning.duplicate
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

  /** Compares how many of a chain were delivered, so far in `surplus`, with how many are committed. */
  private weigh(head: number): void {
    const { source, standing: standings } = this.expected
    const delivered = this.surplus[head] ?? 0
    let [required, committed, isSourceUnknown] = [0, 0, false]
    for (const index of this.chain(head)) {
      if (standings[index] === standing.required) required++
      if (standings[index] !== standing.ahead) committed++
      if (source[index] !== source[head]) isSourceUnknown = true
    }
    this.surplus[head] = Math.max(0, delivered - committed)
    this.isSurplus[head] = delivered > committed ? 1 : 0
    let first = head
    for (let missing = required - delivered; missing > 0; missing--) first = this.equals.next[first] ?? none
    this.unpaired[head] = first
    if (isSourceUnknown) for (const index of this.chain(head)) this.isSourceUnknown[index] = 1
  }

  private isOrderKnown(head: number): boolean {
    if (!this.isCertain(head)) return false
    const { standing: standings } = this.expected
    for (const index of this.chain(head)) {
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
