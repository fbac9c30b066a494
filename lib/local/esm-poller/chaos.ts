/** Faults made on purpose. Each number is the probability per batch, from 0 to 1. */
export interface ChaosOptions {
  /** The same seed and the same course of events give the same faults. */
  readonly seed: number
  /** The same event twice: half of the time one after the other, half of the time at once. */
  readonly duplicate?: number
  /** Partitions in another order and other cuts than those in which their records arrived; never within a partition. */
  readonly reorder?: number
  /** The batch is delivered again, cut differently, while the first invocation still runs and is no longer listened to. That delivery is heard: never two in a row. */
  readonly overlap?: number
}

export type Fault = 'none' | 'duplicate' | 'duplicate-beside' | 'overlap'

/** The dice of one poller. */
export class Chaos {
  readonly #options: ChaosOptions
  readonly #next: () => number
  /** Dice of its own: how often something failed must not change which faults come. */
  readonly #jitter: () => number

  constructor(options: ChaosOptions, poller: number) {
    this.#options = options
    this.#next = seededFractions(options.seed + poller * 7919)
    this.#jitter = seededFractions(options.seed + poller)
  }

  fault(): Fault {
    const { overlap = 0, duplicate = 0 } = this.#options
    const drawn = this.#next()
    if (drawn < overlap) return 'overlap'
    if (drawn < overlap + duplicate) return this.#next() < 0.5 ? 'duplicate' : 'duplicate-beside'
    return 'none'
  }

  /** Whether the next batch takes partitions in another order and less than it could. */
  reorders(): boolean {
    return this.#next() < (this.#options.reorder ?? 0)
  }

  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, key: this.#next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item)
  }

  /** From 1 to `count`. */
  smaller(count: number): number {
    return 1 + Math.floor(this.#next() * count)
  }

  /** A factor from one half to 1 for waits. */
  jitter(): number {
    return 0.5 + this.#jitter() / 2
  }
}

/** A small generator of evenly spread fractions (mulberry32): for faults and jitter, never for ids. */
export function seededFractions(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
