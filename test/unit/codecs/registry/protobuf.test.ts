import { expect, test } from 'vitest'
import { protobuf } from '../../../../lib/codecs/registry/protobuf.ts'
import { memoryRegistry } from '../../../../lib/testing/memory-registry.ts'
import { decoded, opened } from '../../../helpers/registry-codecs.ts'

const schema = `
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
enum Kind { UNKNOWN = 0; FRESH = 1; }
message Order {
  string order_id = 1;
  int64 total = 2;
  Kind kind = 3;
  repeated string tags = 4;
  google.protobuf.Timestamp at = 5;
  optional int32 discount = 6;
  bytes photo = 7;
  map<string, uint32> counts = 8;
  message Line { int32 count = 1; }
  message Note { string text = 1; }
}
message Refund { string order_id = 1; }
`
const order = {
  orderId: 'a',
  total: 2n ** 60n,
  kind: 'FRESH',
  tags: ['x', 'y'],
  at: { seconds: 5n, nanos: 0 },
  discount: 3,
  photo: Buffer.from([1, 2]),
  counts: { x: 1, y: 2 },
}

test('the first message of a file is written and read with everything in it', async () => {
  const codec = await opened(protobuf<typeof order>({ schema }), memoryRegistry())
  const bytes = Buffer.from(codec.encode(order))
  expect([...bytes.subarray(0, 6)]).toEqual([0, 0, 0, 0, 1, 0])
  const value = codec.decode(bytes)
  bytes.fill(0)
  expect(value).toEqual(order)
})

test('what is not set has its default', async () => {
  const codec = await opened(protobuf<object>({ schema }), memoryRegistry())
  expect(codec.decode(Buffer.from(codec.encode({})))).toEqual({
    orderId: '',
    total: 0n,
    kind: 'UNKNOWN',
    tags: [],
    at: null,
    photo: Buffer.alloc(0),
    counts: {},
  })
})

test.each([
  ['shop.Refund', [2, 2], { orderId: 'r' }],
  ['shop.Order.Note', [4, 0, 2], { text: 'n' }],
])('%s is written with its place in the file, by which it is read', async (message, indexes, value) => {
  const registry = memoryRegistry()
  const bytes = (await opened(protobuf<object>({ schema, message }), registry)).encode(value)
  expect([...bytes].slice(5, 5 + indexes.length)).toEqual(indexes)
  const reader = await opened(protobuf<object>(), registry, { use: 'decode' })
  expect(await decoded(reader, bytes)).toEqual(value)
})

test('messages of imported files do not shift the places of its own', async () => {
  const registry = memoryRegistry({
    money: { type: 'PROTOBUF', schema: 'syntax = "proto3"; package shop; message Money { int32 cents = 1; }' },
  })
  const bill =
    'syntax = "proto3"; package shop; import "money.proto"; message Bill { Money total = 1; } message Void { int32 n = 1; }'
  const references = [{ name: 'money.proto', subject: 'money', version: 1 }]
  const codec = await opened(protobuf<object>({ schema: bill, references, message: 'shop.Void' }), registry)
  expect([...codec.encode({ n: 1 })].slice(5)).toEqual([2, 2, 8, 1])
  const whole = await opened(protobuf<object>({ schema: bill, references }), registry)
  expect(whole.decode(Buffer.from(whole.encode({ total: { cents: 9 } })))).toEqual({ total: { cents: 9 } })
})

test('a message that the schema does not have, or bytes that are none, are refused', async () => {
  const codec = await opened(protobuf<object>({ schema }), memoryRegistry())
  expect(() => codec.decode(Buffer.from([0, 0, 0, 0, 1, 2, 18]))).toThrow('no message at [9]')
  expect(() => codec.decode(Buffer.from([0, 0, 0, 0, 1, 0, 0x0a, 0x7f]))).toThrow()
})

test.each([
  [{ orderId: 5 }, 'orderId is not a string'],
  [{ order_id: 'a' }, 'order_id is no field of Order'],
  [{ total: 2n ** 63n }, 'total is not a int64'],
  [{ total: 1.5 }, 'total is not a int64'],
  [{ discount: 2 ** 31 }, 'discount is not a int32'],
  [{ kind: 'STALE' }, 'kind is not a Kind'],
  [{ tags: 'x' }, 'tags is not a list'],
  [{ tags: ['x', 7] }, 'tags.1 is not a string'],
  [{ at: { seconds: 'now' } }, 'at.seconds is not a int64'],
  [{ photo: 'hunter2' }, 'photo is not a bytes'],
  [{ counts: { x: 'hunter2' } }, 'counts.x is not a uint32'],
  ['hunter2', 'the value is not a Order'],
])('%o does not fit, and is told by its place', async (value, problem) => {
  const codec = await opened(protobuf<unknown>({ schema }), memoryRegistry())
  const encode = () => codec.encode(value)
  expect(encode).toThrow(problem)
  expect(encode).not.toThrow('hunter2')
})

/** Its descriptor in base64, as @confluentinc/schemaregistry 1.10.1 registers it, and what that client writes. */
test.each([
  [[0, 10, 1, 97, 16, 5], { id: 'a', total: 5n }],
  [[2, 2, 10, 1, 114], { orderId: 'r' }],
  [[4, 0, 2, 10, 1, 110], { text: 'n' }],
])("%j of Confluent's own client is read by a descriptor", async (payload, value) => {
  const descriptor =
    'CgpzaG9wLnByb3RvEgRzaG9wIksKBU9yZGVyEgoKAmlkGAEgASgJEg0KBXRvdGFsGAIgASgDGhEKBExpbmUSCQoBbhgBIAEoBRoUCgROb3Rl' +
    'EgwKBHRleHQYASABKAkiIwoGUmVmdW5kEhkKCG9yZGVyX2lkGAEgASgJUgdvcmRlcklkYgZwcm90bzM='
  const registry = memoryRegistry({ orders: { type: 'PROTOBUF', schema: descriptor } })
  const reader = await opened(protobuf<object>(), registry, { use: 'decode' })
  expect(await decoded(reader, Buffer.from([0, 0, 0, 0, 1, ...payload]))).toEqual(value)
})

test('a message of an imported file is not for outputs', async () => {
  const registry = memoryRegistry({
    money: { type: 'PROTOBUF', schema: 'syntax = "proto3"; package shop; message Money { int32 cents = 1; }' },
  })
  const bill = 'syntax = "proto3"; package shop; import "money.proto"; message Bill { Money total = 1; }'
  const references = [{ name: 'money.proto', subject: 'money', version: 1 }]
  const codec = await opened(protobuf<object>({ schema: bill, references, message: 'shop.Money' }), registry)
  expect(() => codec.encode({ cents: 1 })).toThrow('.shop.Money is a message of an imported file')
})
