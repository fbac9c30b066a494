import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimate, type Offer } from '../../../lib/cost/estimate.ts'
import { type Load, loadBounds, loadDefaults } from '../../../lib/cost/load.ts'
import { type BillPart, billParts } from '../../../lib/cost/prices.ts'
import type { WayName } from '../../../lib/cost/ways.ts'

const load = (changes: Partial<Load> = {}): Load => ({ ...loadDefaults, recordsPerSecond: 50, ...changes })
const offer = (name: WayName, changes: Partial<Load> = {}): Offer =>
  estimate(load(changes)).offers.find((one) => one.name === name) ?? expect.fail(`no ${name}`)

/** Loads as people have them, and at the bounds. */
const loads: fc.Arbitrary<Load> = fc.record({
  recordsPerSecond: fc.double({ min: 0.001, max: 1_000_000, noNaN: true }),
  bytesPerRecord: fc.integer({ min: 1, max: 1_000_000 }),
  partitions: fc.integer({ min: 1, max: 1_000 }),
  latencyMs: fc.integer({ min: 0, max: 3_600_000 }),
  outputFactor: fc.double({ min: 0, max: 20, noNaN: true }),
  memoryMb: fc.integer({ min: 128, max: 10_240 }),
  transformMicros: fc.double({ min: 0, max: 10_000, noNaN: true }),
  zones: fc.integer({ min: 1, max: 6 }),
})

/** Sums of floating-point numbers in another order. */
const nearly = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))

/** A second poller has lanes of its own: its bells open fewer of them, and cost may fall. */
const hasOnePoller = ({ recordsPerSecond, bytesPerRecord }: Load) => recordsPerSecond * bytesPerRecord <= 5_000_000
const isMapped = (way: WayName) => way === 'events' || way === 'provisioned'

describe('for any load', () => {
  test('items and parts add up to the same bill, and nothing is negative or no number', () => {
    fc.assert(
      fc.property(loads, (any) => {
        for (const { usd, items, parts, p99Ms } of estimate(any).offers) {
          const ofParts = billParts.reduce((sum: number, part: BillPart) => sum + parts[part], 0)
          const ofItems = items.reduce((sum, item) => sum + item.usd, 0)
          expect(nearly(usd, ofParts) && nearly(usd, ofItems)).toBe(true)
          for (const value of [usd, p99Ms, ...items.flatMap((item) => [item.usd, item.quantity])])
            expect(Number.isFinite(value) && value >= 0).toBe(true)
        }
      }),
    )
  })

  test.each([
    ['recordsPerSecond', 3],
    ['bytesPerRecord', 2],
    ['outputFactor', 2],
    ['transformMicros', 2],
    ['memoryMb', 2],
  ] as const)('more %s costs no way less', (name, factor) => {
    fc.assert(
      fc.property(loads, (any) => {
        const more = { ...any, [name]: Math.min(any[name] * factor, loadBounds[name].most) }
        const [before, after] = [estimate(any), estimate(more)]
        for (const [at, { name: way, usd }] of before.offers.entries())
          if (!isMapped(way) || hasOnePoller(more))
            expect((after.offers[at]?.usd ?? 0) >= usd * (1 - 1e-9), way).toBe(true)
      }),
    )
  })

  test('the cheapest keeps up, meets the latency, is not Flink, and no other of those is cheaper', () => {
    fc.assert(
      fc.property(loads, (any) => {
        const { cheapest, offers } = estimate(any)
        const fit = offers.filter(({ name, keepsUp, meetsLatency }) => name !== 'flink' && keepsUp && meetsLatency)
        const chosen = fit.find(({ name }) => name === cheapest)
        expect(cheapest === null).toBe(fit.length === 0)
        expect(fit.every(({ usd }) => usd >= (chosen?.usd ?? 0))).toBe(true)
      }),
    )
  })

  test('a way keeps up exactly when its busiest part has a reserve', () => {
    fc.assert(fc.property(loads, (any) => estimate(any).offers.every(({ keepsUp, busy }) => keepsUp === busy <= 0.6)))
  })
})

test('a wish is met by the trigger that a deployment sets up for it', () => {
  const deployedFor = (latencyMs: number) => estimate(load({ latencyMs })).deployed
  expect([500, 1_000, 5_000, 60_000].map(deployedFor)).toEqual(['provisioned', 'linger', 'events', 'pull'])
  for (const latencyMs of [500, 5_000, 60_000]) {
    const { deployed } = estimate(load({ latencyMs }))
    expect(offer(deployed, { latencyMs }).meetsLatency, deployed).toBe(true)
  }
})

test('one provisioned mapping is a unit for every hour of the month', () => {
  const { parts } = offer('provisioned', { recordsPerSecond: 0.001 })
  expect(parts.mapping).toBeCloseTo(0.185 * 730, 6)
})

test('the smallest Managed Flink is two units and the storage of one', () => {
  const { parts } = offer('flink', { recordsPerSecond: 0.001 })
  expect(parts.compute).toBeCloseTo(2 * 0.11 * 730 + 50 * 0.1, 6)
})

test('a record every two seconds within a minute costs some dollars as a schedule, and a pull every minute is 43,800', () => {
  const { items, usd } = offer('pull', { recordsPerSecond: 0.5, latencyMs: 60_000 })
  const sweeps = (730 * 3_600) / 900
  expect(items.find(({ price }) => price === 'lambdaRequests')?.quantity).toBeCloseTo(43_800 + sweeps, 6)
  expect(usd).toBeGreaterThan(1)
  expect(usd).toBeLessThan(10)
})

test('a mapping reads everything once more between zones than a pull; in one zone traffic is free', () => {
  expect(offer('events').parts.traffic).toBeCloseTo(1.5 * offer('pull').parts.traffic, 6)
  expect(offer('events', { zones: 1 }).parts.traffic).toBe(0)
})

test('a load above one function is no work for a pull, though still for a mapping', () => {
  const heavy = { recordsPerSecond: 30_000, partitions: 24, memoryMb: 1_769, transformMicros: 20 }
  expect(offer('pull', heavy).keepsUp).toBe(false)
  expect(offer('linger', heavy).keepsUp).toBe(false)
  expect(offer('events', heavy).keepsUp).toBe(true)
})

test('all values that are out of bounds are named at once, with bound and fix', () => {
  const wrong = load({ recordsPerSecond: Number.NaN, partitions: 0, bytesPerRecord: 1.5, memoryMb: 20_000 })
  expect(() => estimate(wrong)).toThrow(
    /4 problems\n.*--records-per-second is NaN, wanted a number from 0\.001 to 10,000,000.*\n.*--bytes is 1\.5, wanted a whole number.*\n.*--partitions is 0.*\n.*--memory is 20000, wanted a whole number from 128 to 10,240\. Fix: /,
  )
})
