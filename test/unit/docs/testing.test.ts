/** docs/testing.md shows parts of this file, to the letter: what a reader copies compiles and passes. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { days, defineRelay, json, string, topic } from '../../../lib/index.ts'
import { testRelay } from '../../../lib/testing/index.ts'

const Order = v.object({ customer: v.string(), total: v.number() })

const largeOrders = defineRelay({
  name: 'large-orders',
  source: topic('orders', json(Order)),
  outputs: { large: topic('orders.large', json<{ customer: string; total: number }>()) },
  deadLetters: topic('orders.dead'),
  transform(record, { emit }) {
    if (record.value.total >= 100) emit.large(record.value)
  },
})

const order = (customer: string, total: number) => ({ key: customer, value: { customer, total } })

test('large orders are passed on, others are not', async () => {
  const relay = testRelay(largeOrders)
  await relay.pipe([order('ann', 5), order('bob', 100)])
  expect(relay.outputs.large.values()).toEqual([{ customer: 'bob', total: 100 }])
})

test('an output keeps key, headers and time of its record', async () => {
  const relay = testRelay(largeOrders, { startAt: new Date('2026-03-01T10:00:00Z') })
  await relay.pipe({ ...order('bob', 100), headers: { trace: 'abc' } })
  expect(relay.outputs.large.records()).toMatchObject([
    {
      key: Buffer.from('bob'),
      headers: [{ key: 'trace', value: Buffer.from('abc') }],
      timestamp: Date.parse('2026-03-01T10:00:00Z'),
    },
  ])
})

test('what is no order is a dead letter, and holds nobody up', async () => {
  const relay = testRelay(largeOrders)
  await relay.pipe([{ key: 'ann', bytes: '{"total":' }, order('bob', 100)])
  expect(relay.deadLetters.records()).toMatchObject([
    { value: Buffer.from('{"total":'), error: { code: 'DECODE_FAILED' }, source: { topic: 'orders', offset: 0n } },
  ])
  expect(relay.outputs.large.values()).toHaveLength(1)
})

test.each(['transform', 'before-commit', 'after-commit'] as const)(
  'a crash at %s loses and doubles nothing',
  async (point) => {
    const relay = testRelay(largeOrders)
    await relay.pipe(order('ann', 100))
    await relay.crash(point)
    await relay.pipe([order('bob', 200), order('ann', 300)])
    expect(relay.outputs.large.values().map(({ total }) => total)).toEqual([100, 200, 300])
  },
)

test('a lost event is made good by the next one', async () => {
  const relay = testRelay(largeOrders)
  await relay.write(order('ann', 100)) // written to the source, and nobody was told
  expect(relay.outputs.large.values()).toEqual([])
  await relay.pipe(order('bob', 200))
  expect(relay.outputs.large.values()).toHaveLength(2)
})

test('a relay goes on after ten idle days, when brokers have forgotten its offsets', async () => {
  const relay = testRelay(largeOrders)
  await relay.pipe(order('ann', 100))
  await relay.advanceTime(days(10))
  await relay.pipe(order('bob', 200))
  expect(relay.outputs.large.values()).toHaveLength(2)
})

const greetings = defineRelay({
  name: 'greetings',
  source: topic('names', string()),
  outputs: { greetings: topic('greetings', string()) },
  setup: async ({ secret }) => ({ word: await secret('GREETING') }),
  transform: (record, { emit, word }) => emit.greetings(`${word}, ${record.value}`),
})

test('setup gets the secrets of the test', async () => {
  const relay = testRelay(greetings, { secrets: { GREETING: 'Hello' } })
  await relay.pipe({ value: 'Ann' })
  expect(relay.outputs.greetings.values()).toEqual(['Hello, Ann'])
})

test('a lane that stops makes the test fail with its reason', async () => {
  const relay = testRelay(greetings, { secrets: { GREETING: 'Hello' } })
  const notText = { bytes: Buffer.from([0xff]) } // greetings has no deadLetters: it stops there
  await expect(relay.pipe(notText)).rejects.toMatchObject({ code: 'RECORD_REJECTED_STOP' })
})

const page = fileURLToPath(new URL('../../../docs/testing.md', import.meta.url))

test('the page shows nothing that is not in this file', async () => {
  const here = await readFile(import.meta.filename, 'utf8')
  const [, imports = ''] = /(import \{ days.*?testing\/index\.ts'\n)/s.exec(here) ?? []
  const asUsersImport = imports
    .replace('../../../lib/index.ts', 'fencepost')
    .replace('../../../lib/testing/index.ts', 'fencepost/testing')
  const blocks = [...(await readFile(page, 'utf8')).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code)
  expect(blocks.length).toBeGreaterThanOrEqual(6)
  for (const block of blocks) expect(`${asUsersImport}${here}`).toContain(block)
})
