import type { Random } from '../clock.ts'

/** Chance that one number decides: the same seed gives the same ids and fractions in the same order (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const hex = (): string => next().toString(16).padStart(8, '0')
  return {
    id: () => {
      const digits = hex() + hex() + hex() + hex()
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`
    },
    fraction: () => next() / 2 ** 32,
  }
}
