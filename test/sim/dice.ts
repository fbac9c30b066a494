import type { Random } from '../../lib/clock.ts'
import { seededRandom } from '../../lib/testing/seeded-random.ts'

/** All chance of one part of a simulation: a stream of its own, so that what one part draws changes no other. */
export class Dice {
  readonly random: Random
  private readonly seed: number

  constructor(seed: number) {
    this.seed = seed >>> 0
    this.random = seededRandom(this.seed)
  }

  /** An independent stream, the same for the same name. */
  fork(name: string): Dice {
    return new Dice(mix(this.seed, name))
  }

  chance(probability: number): boolean {
    return probability > 0 && this.random.fraction() < probability
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.random.fraction() * (most - least + 1))
  }

  /** Small values are as likely as large ones: for rates and delays over orders of magnitude. */
  logarithmic(least: number, most: number): number {
    return least * (most / least) ** this.random.fraction()
  }

  pick<T>(items: readonly T[]): T {
    const picked = items[this.between(0, items.length - 1)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }
}

/** FNV-1a over the name, begun with the seed, and stirred once more so that near names lie far apart. */
function mix(seed: number, name: string): number {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
