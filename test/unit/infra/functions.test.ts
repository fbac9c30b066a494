import { expect, test } from 'vitest'
import { serverlessFunctions } from '../../../infra/functions.ts'
import { planOf } from '../../helpers/deployment-plans.ts'

test('a description fits into the 256 characters of Lambda, however long relay and topic are called', () => {
  const name = 'r'.repeat(40)
  const functions = Object.values(serverlessFunctions(planOf({ relays: { [name]: {} } }, { [name]: 't'.repeat(249) })))
  for (const { description } of functions) {
    expect(description.length).toBeLessThanOrEqual(256)
    expect(description).toContain(name)
  }
})

test('an invocation by a schedule that failed or found no room is not repeated after the next one', () => {
  const functions = Object.values(
    serverlessFunctions(planOf({ relays: { slow: { latency: '1h' }, daily: { latency: '1d' } } })),
  )
  const rules = functions.map(({ name, maximumRetryAttempts, maximumEventAge }) => [
    name,
    maximumRetryAttempts,
    maximumEventAge,
  ])
  expect(rules).toEqual([
    ['shop-prod-slow', 0, 3_600],
    ['shop-prod-slow-sweep', 0, 900],
    ['shop-prod-slow-status', undefined, undefined],
    ['shop-prod-daily', 0, 21_600],
    ['shop-prod-daily-sweep', 0, 900],
    ['shop-prod-daily-status', undefined, undefined],
  ])
})
