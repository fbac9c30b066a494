import { describe, expect, test } from 'vitest'
import { Chaos, seededFractions } from '../../../../lib/local/esm-poller/chaos.ts'

const faults = (chaos: Chaos, count = 2_000) => Array.from({ length: count }, () => chaos.fault())
const shareOf = (drawn: readonly string[], fault: string) => drawn.filter((one) => one === fault).length / drawn.length

describe('faults', () => {
  test('the same seed gives the same faults; another seed or another poller gives others', () => {
    const options = { seed: 42, duplicate: 0.3, overlap: 0.3 }
    expect(faults(new Chaos(options, 0))).toEqual(faults(new Chaos(options, 0)))
    expect(faults(new Chaos(options, 0))).not.toEqual(faults(new Chaos({ ...options, seed: 43 }, 0)))
    expect(faults(new Chaos(options, 0))).not.toEqual(faults(new Chaos(options, 1)))
  })

  test('come as often as asked for, duplicates half and half', () => {
    const drawn = faults(new Chaos({ seed: 1, duplicate: 0.4, overlap: 0.2 }, 0))
    expect(shareOf(drawn, 'overlap')).toBeCloseTo(0.2, 1)
    expect(shareOf(drawn, 'duplicate')).toBeCloseTo(0.2, 1)
    expect(shareOf(drawn, 'duplicate-beside')).toBeCloseTo(0.2, 1)
  })

  test('do not come unasked', () => {
    const chaos = new Chaos({ seed: 1 }, 0)
    expect(new Set(faults(chaos))).toEqual(new Set(['none']))
    expect(chaos.reorders()).toBe(false)
  })

  test('are not moved by waits for failures', () => {
    const options = { seed: 9, duplicate: 0.5 }
    const waiting = new Chaos(options, 0)
    const drawn = Array.from({ length: 50 }, () => {
      waiting.jitter()
      return waiting.fault()
    })
    expect(drawn).toEqual(faults(new Chaos(options, 0), 50))
  })
})

test('shuffling keeps every item; smaller stays within 1 and the count; jitter within a half and 1', () => {
  const chaos = new Chaos({ seed: 5 }, 0)
  const items = [1, 2, 3, 4, 5, 6, 7, 8]
  const shuffled = Array.from({ length: 20 }, () => chaos.shuffle(items))
  for (const one of shuffled) expect([...one].sort()).toEqual(items)
  expect(shuffled.some((one) => one.join() !== items.join())).toBe(true)
  const drawn = Array.from({ length: 500 }, () => chaos.smaller(3))
  expect([...new Set(drawn)].sort()).toEqual([1, 2, 3])
  const waits = Array.from({ length: 500 }, () => chaos.jitter())
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(0.5)
  expect(Math.max(...waits)).toBeLessThanOrEqual(1)
})

test('fractions are spread evenly over [0, 1)', () => {
  const next = seededFractions(123)
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let draws = 0; draws < 10_000; draws++) {
    const tenth = Math.floor(next() * 10)
    tenths[tenth] = (tenths[tenth] ?? 0) + 1
  }
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150)
})
