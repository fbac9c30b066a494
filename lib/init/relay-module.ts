/** A small relay that shows the most: a validated source, two outputs, dead letters. */
export const relayModule = (relay: string): string => `import { bytes, defineRelay, json, topic } from 'fencepost'
import * as v from 'valibot'

const Order = v.object({ id: v.string(), customer: v.string(), total: v.number() })

/** Passes orders on, byte for byte, and tells of the large ones. Each order takes effect exactly once. */
export default defineRelay({
  name: '${relay}',
  source: topic('orders', json(Order)),
  outputs: {
    accepted: topic('orders.accepted', bytes()),
    large: topic('orders.large', json<{ id: string; customer: string }>()),
  },
  deadLetters: topic('orders.dead'), // what cannot be read, or throws
  transform(record, { emit }) {
    const { id, customer, total } = record.value
    emit.accepted(record.raw.value)
    if (total >= 100) emit.large({ id, customer })
  },
})
`

export const relayTest = (relay: string): string => `import { testRelay } from 'fencepost/testing'
import { expect, test } from 'vitest'
import orders from '../relays/${relay}.ts'

const order = (id: string, total: number) => ({ key: 'ann', value: { id, customer: 'ann', total } })

test('every order is passed on, and the large ones are told of', async () => {
  const relay = testRelay(orders)
  await relay.pipe([order('a', 5), order('b', 100)])
  expect(relay.outputs.accepted.values()).toHaveLength(2)
  expect(relay.outputs.large.values()).toEqual([{ id: 'b', customer: 'ann' }])
})

test('an order is passed on once although the function dies right after its commit', async () => {
  const relay = testRelay(orders)
  await relay.crash('after-commit')
  await relay.pipe(order('a', 5))
  expect(relay.outputs.accepted.values()).toHaveLength(1)
})

test('what is no order goes to the dead letters, and the next one goes on', async () => {
  const relay = testRelay(orders)
  await relay.pipe([{ bytes: 'not an order' }, order('a', 5)])
  expect(relay.deadLetters.records()).toMatchObject([{ error: { code: 'DECODE_FAILED' } }])
  expect(relay.outputs.accepted.values()).toHaveLength(1)
})
`
