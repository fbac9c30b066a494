import { expect, it } from 'vitest'
import { planOf } from './plan.ts'
import { simulate } from './simulate.ts'

const seeds = [3, 11, 23, 36, 47, 58, 71, 89]

it('does the same when it is given the same seed again, event by event', async () => {
  for (const seed of seeds) {
    const [once, again] = [await simulate(planOf(seed)), await simulate(planOf(seed))]
    expect(again.digest).toBe(once.digest)
    expect([...again.fired]).toEqual([...once.fired])
  }
}, 120_000)

it('does not depend on whether anybody reads along', async () => {
  const [silent, told] = [await simulate(planOf(5)), await simulate(planOf(5), { keepsTimeline: true })]
  expect(told.digest).toBe(silent.digest)
  expect(told.timeline.length).toBeGreaterThan(10)
}, 60_000)

it('does something else with every seed', async () => {
  const digests = new Set<string>()
  for (const seed of seeds) digests.add((await simulate(planOf(seed))).digest)
  expect(digests.size).toBe(seeds.length)
}, 60_000)
