/** What the compiler must accept and refuse of registry codecs. Nothing here runs: see relay-definition.ts. */
import { avro } from '../../lib/codecs/registry/avro.ts'
import { jsonSchema } from '../../lib/codecs/registry/json-schema.ts'
import { protobuf } from '../../lib/codecs/registry/protobuf.ts'
import { defineRelay, nullable, schemaRegistry, topic } from '../../lib/index.ts'

interface Order {
  readonly id: string
  readonly total: bigint
}

const registry = schemaRegistry({ url: 'http://localhost', login: { username: 'u', password: 'p' } })

export const typed = defineRelay({
  name: 'typed',
  source: topic('orders', avro<Order>({ registry, longs: 'bigint' }), { key: protobuf<{ shop: string }>() }),
  outputs: {
    totals: topic('totals', jsonSchema<{ total: number }>({ schema: { type: 'object' }, register: true })),
    latest: topic('latest', nullable(protobuf<Order>({ message: 'shop.Order' }))),
  },
  transform(record, { emit }) {
    const total: bigint = record.value.total
    const shop: string | undefined = record.key?.shop
    emit.totals({ total: Number(total) }, { headers: { shop: shop ?? '' } })
    emit.latest(null)
    emit.latest(record.value)

    // @ts-expect-error a bigint is no number
    emit.totals({ total })
    // @ts-expect-error totals has no null
    emit.totals(null)
    // @ts-expect-error orders have no weight
    record.value.weight
  },
})

// @ts-expect-error a .proto file is text
protobuf<Order>({ schema: { type: 'record' } })
// @ts-expect-error there is no such choice
avro<Order>({ longs: 'string' })
