import type { Random } from '../../clock.ts'

/** The part of a fault that its turn depends on. */
export interface Turn {
  readonly name: string
  readonly strikes: string
}

/**
 * Whose turn it is: each kind once before any comes again, in an order that chance decides. A kind whose target is being
 * struck already waits; when all wait, nothing comes.
 */
export class FaultPlan<T extends Turn> {
  readonly #kinds: readonly T[]
  readonly #random: Random
  #bag: T[] = []

  constructor(kinds: readonly T[], random: Random) {
    this.#kinds = kinds
    this.#random = random
  }

  next(running: Iterable<Turn>): T | null {
    const struck = new Set([...running].map(({ strikes }) => strikes))
    if (this.#bag.length === 0) this.#bag = this.#shuffled()
    const index = this.#bag.findIndex(({ strikes }) => !struck.has(strikes))
    return index === -1 ? null : (this.#bag.splice(index, 1)[0] ?? null)
  }

  #shuffled(): T[] {
    return this.#kinds
      .map((kind) => ({ kind, at: this.#random.fraction() }))
      .sort((a, b) => a.at - b.at)
      .map(({ kind }) => kind)
  }
}
