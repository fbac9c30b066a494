import { avro } from '../../lib/codecs/registry/avro.ts'
import { defineRelay, topic } from '../../lib/index.ts'

/** As the shop's own service registers it in the subject `orders-value`. */
export interface Order {
  readonly id: string
  readonly customer: string
  readonly cents: number
}

export interface Invoice {
  readonly order: string
  readonly customer: string
  readonly netCents: number
  readonly vatCents: number
}

export const invoiceSchema = {
  type: 'record',
  name: 'Invoice',
  namespace: 'shop',
  fields: [
    { name: 'order', type: 'string' },
    { name: 'customer', type: 'string' },
    { name: 'netCents', type: 'long' },
    { name: 'vatCents', type: 'long' },
  ],
}

const vatPercent = 19

/** Makes an invoice of each order. Both topics are Avro with the schemas of a registry. */
export default defineRelay({
  name: 'invoices',
  source: topic('orders', avro<Order>()),
  outputs: { invoices: topic('invoices', avro<Invoice>({ schema: invoiceSchema, register: true })) },
  deadLetters: topic('orders.dead'),
  transform({ value: { id, customer, cents } }, { emit }) {
    const netCents = Math.round((cents * 100) / (100 + vatPercent))
    emit.invoices({ order: id, customer, netCents, vatCents: cents - netCents })
  },
})
