import { describe, expect, test } from 'vitest'
import { avro } from '../../../../lib/codecs/registry/avro.ts'
import { memoryRegistry } from '../../../../lib/testing/memory-registry.ts'
import { decoded, opened } from '../../../helpers/registry-codecs.ts'

interface Order {
  readonly id: string
  readonly total: number
}

const order = {
  type: 'record',
  name: 'Order',
  namespace: 'shop',
  fields: [
    { name: 'id', type: 'string' },
    { name: 'total', type: 'long' },
  ],
}

test('a value is written with its schema and read by the one that it names', async () => {
  const codec = await opened(avro<Order>({ schema: order }), memoryRegistry())
  const bytes = codec.encode({ id: 'a', total: 7 })
  expect([...bytes]).toEqual([0, 0, 0, 0, 1, 2, 97, 14])
  expect(codec.decode(Buffer.from(bytes))).toEqual({ id: 'a', total: 7 })
})

describe('a schema of the reader', () => {
  const reader = {
    ...order,
    fields: [...order.fields, { name: 'currency', type: 'string', default: 'EUR' }],
  }

  test('fills in what the writer did not have, and leaves out what it does not want', async () => {
    const registry = memoryRegistry()
    const written = (await opened(avro<Order>({ schema: order }), registry)).encode({ id: 'a', total: 7 })
    const codec = await opened(avro<Order & { currency: string }>({ schema: reader }), registry)
    expect(await decoded(codec, written)).toEqual({ id: 'a', total: 7, currency: 'EUR' })
  })

  test('that cannot read what was written rejects those records', async () => {
    const registry = memoryRegistry()
    const written = (await opened(avro<Order>({ schema: order }), registry)).encode({ id: 'a', total: 7 })
    const other = { ...order, fields: [{ name: 'id', type: 'int' }] }
    const codec = await opened(avro<Order>({ schema: other }), registry)
    await expect(decoded(codec, written)).rejects.toThrow('schema 1 cannot be used')
  })
})

test('whole numbers beyond 2^53 are refused as numbers and kept as bigint', async () => {
  const registry = memoryRegistry()
  const big = await opened(avro<{ id: string; total: bigint }>({ schema: order, longs: 'bigint' }), registry)
  const bytes = big.encode({ id: 'a', total: 2n ** 62n })
  expect(big.decode(Buffer.from(bytes))).toEqual({ id: 'a', total: 2n ** 62n })
  const small = await opened(avro<Order>(), registry, { use: 'decode' })
  await expect(decoded(small, bytes)).rejects.toThrow('precision')
  expect(() => big.encode({ id: 'a', total: 2n ** 63n })).toThrow('total is not')
})

test('a value that does not fit names the fields and shows nothing of it', async () => {
  const codec = await opened(avro<Order>({ schema: order }), memoryRegistry())
  const encode = () => codec.encode({ id: 'hunter2', total: 'hunter2' as unknown as number })
  expect(encode).toThrow('total is not long')
  expect(encode).not.toThrow('hunter2')
})

test.each([
  ['cut off', [0, 0, 0, 0, 1, 2]],
  ['too long', [0, 0, 0, 0, 1, 2, 97, 14, 9]],
])('bytes that are %s are refused', async (_what, bytes) => {
  const codec = await opened(avro<Order>({ schema: order }), memoryRegistry())
  expect(() => codec.decode(Buffer.from(bytes))).toThrow()
})

test('schemas that it refers to are fetched with it', async () => {
  const registry = memoryRegistry({
    money: { type: 'AVRO', schema: { type: 'record', name: 'shop.Money', fields: [{ name: 'cents', type: 'long' }] } },
  })
  const schema = { type: 'record', name: 'shop.Bill', fields: [{ name: 'total', type: 'shop.Money' }] }
  const references = [{ name: 'shop.Money', subject: 'money', version: 1 }]
  const codec = await opened(avro<{ total: { cents: number } }>({ schema, references }), registry)
  const bytes = codec.encode({ total: { cents: 5 } })
  expect(codec.decode(Buffer.from(bytes))).toEqual({ total: { cents: 5 } })
})

test('bytes in a value stay what they are when the window is gone', async () => {
  const schema = { type: 'record', name: 'Blob', fields: [{ name: 'data', type: 'bytes' }] }
  const codec = await opened(avro<{ data: Buffer }>({ schema }), memoryRegistry())
  const bytes = Buffer.from(codec.encode({ data: Buffer.from('abc') }))
  const value = codec.decode(bytes)
  bytes.fill(0)
  expect(value.data.toString()).toBe('abc')
})
