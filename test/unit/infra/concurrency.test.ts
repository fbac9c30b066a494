import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxConcurrency } from '../../../infra/concurrency.ts'
import { serverlessFunctions } from '../../../infra/functions.ts'
import { planProblems } from '../../../infra/problems.ts'
import { planOf } from '../../helpers/deployment-plans.ts'

const iam = { connectionsPerBroker: 3_000, connectionsPerSecond: 100, share: 0.5 }

describe('how many containers a cluster allows', () => {
  test('is bound by open connections and by how fast they can be opened, divided among relays', () => {
    expect(maxConcurrency({ connectionsPerBroker: 3_000, share: 1 }, 1)).toBe(1_498)
    expect(maxConcurrency(iam, 1)).toBe(123)
    expect(maxConcurrency(iam, 4)).toBe(29)
  })

  test('never more connections than allowed, as long as each relay has room for its three functions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 400, max: 10_000 }), (relays, connections) => {
        const bells = maxConcurrency({ connectionsPerBroker: connections, share: 1 }, relays)
        expect(bells).toBeGreaterThanOrEqual(1)
        if (bells > 1) expect(relays * (bells + 2) * 2).toBeLessThanOrEqual(connections)
      }),
    )
  })

  test('is reserved for the bell where limits are said and no other number is', () => {
    const limitOf = (plan: ReturnType<typeof planOf>) => serverlessFunctions(plan).delays?.reservedConcurrency
    expect(limitOf(planOf({}))).toBeUndefined()
    expect(limitOf(planOf({ limits: iam }))).toBe(123)
    expect(limitOf(planOf({ limits: iam, relays: { delays: { concurrency: 10 } } }))).toBe(10)
  })

  test('is never reserved beyond what an account has unless it was raised', () => {
    const limits = { connectionsPerBroker: 100_000, share: 1 }
    const relays = { delays: {}, spend: {}, quick: { latency: '0ms' } }
    const reserved = Object.values(serverlessFunctions(planOf({ limits, relays }))).map(
      ({ reservedConcurrency = 0 }) => reservedConcurrency,
    )
    expect(reserved.reduce((sum, one) => sum + one)).toBe(900)
    expect(planProblems(planOf({ limits, relays: { delays: { concurrency: 1_000 } } }))).toEqual([])
  })

  test('is no more for a schedule than invocations that can overlap', () => {
    const reserved = (relay: object) =>
      serverlessFunctions(planOf({ limits: iam, relays: { delays: relay } })).delays?.reservedConcurrency
    expect(reserved({ latency: '1s' })).toBe(2)
    expect(reserved({ latency: '60s', timeout: '5m' })).toBe(6)
    expect(reserved({ latency: '1h', timeout: '5m' })).toBe(2)
  })

  test('is a bound for the number that is said', () => {
    const plan = planOf({ limits: iam, relays: { delays: { concurrency: 500 } } })
    expect(planProblems(plan)).toMatchObject([{ path: 'relays.delays.concurrency', found: '500' }])
  })
})
