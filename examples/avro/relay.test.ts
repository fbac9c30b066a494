import { expect, test } from 'vitest'
import { memoryRegistry, testRelay } from '../../lib/testing/index.ts'
import invoices, { invoiceSchema } from './relay.ts'

const orderSchema = {
  type: 'record',
  name: 'Order',
  namespace: 'shop',
  fields: [
    { name: 'id', type: 'string' },
    { name: 'customer', type: 'string' },
    { name: 'cents', type: 'long' },
  ],
}

const underTest = (schema: object = orderSchema) =>
  testRelay(invoices, { registry: memoryRegistry({ 'orders-value': { type: 'AVRO', schema } }) })

test('an order becomes an invoice, written by the schema of invoices', async () => {
  const relay = underTest()
  await relay.pipe({ value: { id: 'o-1', customer: 'ann', cents: 11_900 } })
  expect(relay.outputs.invoices.values()).toEqual([
    { order: 'o-1', customer: 'ann', netCents: 10_000, vatCents: 1_900 },
  ])
  expect(invoiceSchema.fields.map(({ name }) => name)).toEqual(Object.keys(relay.outputs.invoices.values()[0] ?? {}))
})

test('orders of a later schema, with a field more, are invoiced as before', async () => {
  const fields = [...orderSchema.fields, { name: 'coupon', type: ['null', 'string'], default: null }]
  const relay = underTest({ ...orderSchema, fields })
  const order = { id: 'o-2', customer: 'bob', cents: 119, coupon: 'spring' }
  await relay.pipe({ value: order })
  expect(relay.outputs.invoices.values()).toEqual([{ order: 'o-2', customer: 'bob', netCents: 100, vatCents: 19 }])
})

test('what is no Avro of the registry becomes a dead letter', async () => {
  const relay = underTest()
  await relay.pipe([{ bytes: '{"id":"o-3"}' }, { value: { id: 'o-4', customer: 'ann', cents: 119 } }])
  expect(relay.deadLetters.records()).toMatchObject([{ error: { code: 'DECODE_FAILED' } }])
  expect(relay.outputs.invoices.values()).toHaveLength(1)
})
