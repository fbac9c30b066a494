import { describe, expect, test } from 'vitest'
import { jsonSchema } from '../../../../lib/codecs/registry/json-schema.ts'
import { frame } from '../../../../lib/codecs/registry/wire-format.ts'
import { bytes, defineRelay, nullable, topic } from '../../../../lib/index.ts'
import { memoryRegistry, testRelay } from '../../../../lib/testing/index.ts'
import { opened, unbounded } from '../../../helpers/registry-codecs.ts'

interface Order {
  readonly id: string
}

const order = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
const subjects = { 'orders-value': { type: 'JSON', schema: order } } as const

const paid = (options: Parameters<typeof jsonSchema>[0] = {}) =>
  defineRelay({
    name: 'paid',
    source: topic('orders', nullable(jsonSchema<Order>(options))),
    outputs: { paid: topic('orders.paid', nullable(jsonSchema<Order>({ schema: order }))) },
    deadLetters: topic('orders.dead'),
    transform: (record, { emit }) => emit.paid(record.value),
  })

describe('a relay', () => {
  test('reads and writes by schemas, tombstones too', async () => {
    const relay = testRelay(paid(), { registry: memoryRegistry(subjects) })
    await relay.pipe([{ value: { id: 'a' } }, { value: null }, { value: { id: 'b' } }])
    expect(relay.outputs.paid.values()).toEqual([{ id: 'a' }, null, { id: 'b' }])
  })

  test('dead-letters bytes that are no value of a schema, and values that do not fit theirs', async () => {
    const relay = testRelay(paid(), { registry: memoryRegistry(subjects) })
    await relay.pipe([
      { bytes: 'plain' },
      { bytes: frame(1, Buffer.from('{"id":7}')) },
      { bytes: frame(1, Buffer.from('{')) },
      { value: { id: 'a' } },
    ])
    expect(relay.outputs.paid.values()).toEqual([{ id: 'a' }])
    expect(relay.deadLetters.records().map(({ error }) => error.code)).toEqual([
      'DECODE_FAILED',
      'VALIDATION_FAILED',
      'DECODE_FAILED',
    ])
  })

  test('tries the window again while a schema is not known, and loses nothing', async () => {
    const registry = memoryRegistry(subjects)
    const relay = testRelay(paid(), { registry })
    await relay.pipe({ value: { id: 'a' } })
    await expect(relay.pipe({ bytes: frame(2, Buffer.from('{"id":"b"}')) })).rejects.toMatchObject({
      code: 'SCHEMA_UNKNOWN',
      disposition: 'retry',
    })
    expect(relay.deadLetters.values()).toEqual([])
    await registry.register('orders-value', { type: 'JSON', text: '{"type":"object"}', references: [] }, unbounded())
    await relay.ring()
    expect(relay.outputs.paid.values()).toEqual([{ id: 'a' }, { id: 'b' }])
  })

  test('rejects records of unknown schemas where it says so', async () => {
    const relay = testRelay(paid({ unknownSchema: 'reject' }), { registry: memoryRegistry(subjects) })
    await relay.pipe([{ bytes: frame(99, Buffer.from('{}')) }, { value: { id: 'a' } }])
    expect(relay.outputs.paid.values()).toEqual([{ id: 'a' }])
    expect(relay.deadLetters.records()).toMatchObject([{ error: { code: 'DECODE_FAILED' } }])
  })

  test('rejects records whose schema is of another type', async () => {
    const registry = memoryRegistry({ ...subjects, other: { type: 'AVRO', schema: '"string"' } })
    const relay = testRelay(paid(), { registry })
    await relay.pipe({ bytes: frame(2, Buffer.from([2, 97])) })
    expect(relay.deadLetters.records()[0]?.error.message).toContain('schema 2 is AVRO, not JSON')
  })

  test('without a registry says at its start what to set', async () => {
    const context = { secret: async () => '', clock: { now: () => 0, sleep: async () => {} } }
    const starting = paid().start({ ...context, deadline: { atMs: 1, remainingMs: () => 1 } })
    await expect(starting).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('set FENCEPOST_REGISTRY_URL'),
    })
  })
})

describe('the schema of an output', () => {
  const asked = () => {
    const registry = memoryRegistry({ ...subjects, mine: { type: 'JSON', schema: order } })
    const questions: string[] = []
    const watched: typeof registry = {
      byId: (...args) => registry.byId(...args),
      bySubject(subject, version, signal) {
        questions.push(`${version} of ${subject}`)
        return registry.bySubject(subject, version, signal)
      },
      find(subject, ...rest) {
        questions.push(`find in ${subject}`)
        return registry.find(subject, ...rest)
      },
      register(subject, ...rest) {
        questions.push(`register in ${subject}`)
        return registry.register(subject, ...rest)
      },
    }
    return { watched, questions }
  }

  test.each([
    [{}, 'value', 'latest of orders-value'],
    [{ schema: order }, 'value', 'find in orders-value'],
    [{ schema: order }, 'key', 'find in orders-key'],
    [{ schema: order, register: true }, 'value', 'register in orders-value'],
    [{ schema: order, subject: 'mine' }, 'value', 'find in mine'],
    [{ subject: ({ part }: { part: string }) => (part === 'value' ? 'mine' : 'other') }, 'value', 'latest of mine'],
  ] as const)('%j, %s: %s, once', async (options, part, question) => {
    const { watched, questions } = asked()
    const codec = await opened(jsonSchema<Order>(options), watched, { part, use: 'encode' })
    expect(codec.prepare([], unbounded())).toBeUndefined()
    expect(questions).toEqual([question])
    expect([...codec.encode({ id: 'a' })].slice(0, 4)).toEqual([0, 0, 0, 0])
  })
})

test('relays without such codecs wait for nothing', async () => {
  const plain = defineRelay({
    name: 'plain',
    source: topic('in', bytes()),
    outputs: { out: topic('out', bytes()) },
    transform: (record, { emit }) => emit.out(record.value),
  })
  const relay = testRelay(plain)
  await relay.pipe({ bytes: 'a' })
  expect(relay.outputs.out.values()).toEqual([Buffer.from('a')])
})
