import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testRelay } from '../../lib/testing/index.ts'
import scoreOrders from './relay.ts'
import { type ScoringService, startScoringService } from './service.ts'

const secrets = { SCORING_KEY: 'test-key' }
let service: ScoringService

beforeEach(async () => {
  service = await startScoringService(secrets.SCORING_KEY)
  vi.stubEnv('SCORING_URL', service.url)
})
afterEach(() => {
  service.stop()
  vi.unstubAllEnvs()
})

const order = (id: string, total: number) => ({ key: id, value: { id, total } })

test('each order gets its score, in the order of the source although calls overtake each other', async () => {
  const relay = testRelay(scoreOrders, { secrets })
  await relay.pipe(Array.from({ length: 40 }, (_, index) => order(`o${index}`, index * 10 + 1)))
  expect(relay.outputs.scored.values().map(({ score }) => score)).toEqual([...Array(40).keys()])
  expect([...service.scored.values()]).not.toEqual([...Array(40).keys()])
})

test('a call that is made again after a crash carries the same idempotency key', async () => {
  const relay = testRelay(scoreOrders, { secrets })
  await relay.crash('before-commit')
  await relay.pipe([order('a', 50), order('b', 70)])
  expect(relay.outputs.scored.values()).toMatchObject([{ score: 5 }, { score: 7 }])
  expect(Object.fromEntries(service.scored)).toEqual({ 'orders/0/0': 5, 'orders/0/1': 7 })
})

test('a service that is down is no fault of the order: the window is tried again', async () => {
  const relay = testRelay(scoreOrders, { secrets })
  service.failNext(3)
  await relay.pipe([order('a', 50), order('b', 70)])
  expect(relay.outputs.scored.values()).toHaveLength(2)
  expect(relay.deadLetters.records()).toEqual([])
})

test('an order that the service refuses is a dead letter', async () => {
  const relay = testRelay(scoreOrders, { secrets })
  await relay.pipe([order('a', -1), order('b', 70)])
  expect(relay.outputs.scored.values()).toMatchObject([{ id: 'b' }])
  expect(relay.deadLetters.records()).toMatchObject([{ error: { message: expect.stringContaining('refuses') } }])
})
