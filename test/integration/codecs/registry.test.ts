/** Registry codecs against a real registry: what it says of ids, subjects and schemas, and how that is taken. */
import { createServer, type Server } from 'node:http'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { avro } from '../../../lib/codecs/registry/avro.ts'
import { schemaRegistry } from '../../../lib/codecs/registry/http-registry.ts'
import { jsonSchema } from '../../../lib/codecs/registry/json-schema.ts'
import { protobuf } from '../../../lib/codecs/registry/protobuf.ts'
import type { SchemaRegistry } from '../../../lib/codecs/registry/schema-registry.ts'
import { frame } from '../../../lib/codecs/registry/wire-format.ts'
import { close, listen } from '../../../lib/local/http-server.ts'
import { decoded, opened, unbounded } from '../../helpers/registry-codecs.ts'
import { freshName, registryUrl } from '../../helpers/stack.ts'

let registry: SchemaRegistry
beforeAll(async () => {
  registry = schemaRegistry({ url: await registryUrl() })
})

const avroOrder = (name: string) => ({
  type: 'record',
  name,
  fields: [
    { name: 'id', type: 'string' },
    { name: 'total', type: 'long' },
  ],
})
const protoOrder = (name: string) =>
  `syntax = "proto3"; package shop; message ${name} { string id = 1; int64 total = 2; } message Other { int32 n = 1; }`
const jsonOrder = (name: string) => ({
  title: name,
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
})

describe('a schema that is registered by the codec', () => {
  test.each([
    ['avro', avro<object>, avroOrder, { id: 'a', total: 7 }],
    ['protobuf', protobuf<object>, protoOrder, { id: 'a', total: 7n }],
    ['jsonSchema', jsonSchema<object>, jsonOrder, { id: 'a' }],
  ] as const)(
    '%s: is found by id, as the latest of its subject, and by its text',
    async (_name, codec, schemaOf, value) => {
      const topic = freshName('orders')
      const schema = schemaOf(`Order${topic.replaceAll('-', '')}`) as never
      const bytes = (await opened(codec({ schema, register: true }), registry, { topic, use: 'encode' })).encode(value)

      const reader = await opened(codec({}), registry, { topic: 'elsewhere', use: 'decode' })
      expect(await decoded(reader, bytes)).toEqual(value)

      const [latest, same] = [
        await opened(codec({}), registry, { topic }),
        await opened(codec({ schema }), registry, { topic }),
      ]
      expect(latest.encode(value)).toEqual(bytes)
      expect(same.encode(value)).toEqual(bytes)
    },
  )
})

test('schemas that refer to others are registered and read with them', async () => {
  const [money, topic] = [freshName('money'), freshName('bills')]
  const moneySchema = { type: 'record', name: 'shop.Money', fields: [{ name: 'cents', type: 'long' }] }
  const text = { type: 'AVRO', text: JSON.stringify(moneySchema), references: [] } as const
  await registry.register(money, text, unbounded())
  const schema = { type: 'record', name: 'shop.Bill', fields: [{ name: 'total', type: 'shop.Money' }] }
  const references = [{ name: 'shop.Money', subject: money, version: 1 }]
  const writer = await opened(avro<object>({ schema, references, register: true }), registry, { topic, use: 'encode' })
  const reader = await opened(avro<object>(), registry, { topic, use: 'decode' })
  expect(await decoded(reader, writer.encode({ total: { cents: 5 } }))).toEqual({ total: { cents: 5 } })
})

describe('what a registry refuses', () => {
  test('an id that it does not know is asked for again later', async () => {
    const reader = await opened(avro<object>(), registry, { use: 'decode' })
    await expect(decoded(reader, frame(999_999, Buffer.from('x')))).rejects.toMatchObject({
      code: 'SCHEMA_UNKNOWN',
      disposition: 'retry',
    })
  })

  test.each([
    ['a subject that is not there', () => avro<object>()],
    ['a schema that nobody registered', () => avro<object>({ schema: avroOrder('Nobody') })],
    ['a schema that is none', () => avro<object>({ schema: '{"type":"nonsense"}', register: true })],
  ])('%s needs somebody', async (_what, codec) => {
    const opening = opened(codec(), registry, { topic: freshName('none'), use: 'encode' })
    await expect(opening).rejects.toMatchObject({ code: 'SCHEMA_REFUSED', disposition: 'fix-config' })
  })

  test('a schema that readers of the subject could not take', async () => {
    const topic = freshName('compatible')
    await opened(avro<object>({ schema: avroOrder('Kept'), register: true }), registry, { topic, use: 'encode' })
    const config = `${await registryUrl()}/config/${topic}-value`
    const headers = { 'content-type': 'application/json' }
    await fetch(config, { method: 'PUT', headers, body: JSON.stringify({ compatibility: 'FULL' }) })
    const other = { ...avroOrder('Kept'), fields: [{ name: 'total', type: 'string' }] }
    const opening = opened(avro<object>({ schema: other, register: true }), registry, { topic, use: 'encode' })
    await expect(opening).rejects.toMatchObject({ code: 'SCHEMA_REFUSED' })
  })
})

describe('a registry that is not to be had', () => {
  let server: Server | null = null
  afterEach(async () => {
    if (server) await close(server)
    server = null
  })

  /** Answers these, one after the other, the last for ever. */
  async function answering(...answers: readonly (readonly [status: number, body: string])[]) {
    let asked = 0
    const logins: (string | undefined)[] = []
    server = createServer((request, response) => {
      const [status, body] = answers[Math.min(asked++, answers.length - 1)] ?? [500, '']
      logins.push(request.headers.authorization)
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
    const port = await listen(server, 'the registry of a test')
    return { url: `http://127.0.0.1:${port}`, logins }
  }

  const schema = JSON.stringify({ schema: '"string"' })
  const ask = (asked: SchemaRegistry) => asked.byId(1, unbounded())

  test('is asked three times, and then the window is tried again', async () => {
    const { url, logins } = await answering([503, '{"message":"starting"}'])
    await expect(ask(schemaRegistry({ url }))).rejects.toMatchObject({
      code: 'REGISTRY_UNAVAILABLE',
      disposition: 'retry',
      message: expect.stringContaining('HTTP 503: starting'),
    })
    expect(logins).toHaveLength(3)
    await close(server as Server)
    server = null
    await expect(ask(schemaRegistry({ url }))).rejects.toMatchObject({
      code: 'REGISTRY_UNAVAILABLE',
      disposition: 'retry',
    })
  })

  test('and is back answers as if nothing had been', async () => {
    const { url } = await answering([500, ''], [429, ''], [200, schema])
    expect(await ask(schemaRegistry({ url }))).toEqual({ type: 'AVRO', text: '"string"', references: [] })
  })

  test('because it is none is said to be', async () => {
    const { url } = await answering([404, '<html>'])
    await expect(ask(schemaRegistry({ url }))).rejects.toMatchObject({
      code: 'REGISTRY_UNAVAILABLE',
      disposition: 'fix-config',
      message: expect.stringContaining("schema registry's Confluent API"),
    })
  })

  test('with this login is asked once with the one that holds now', async () => {
    const { url, logins } = await answering([401, '{}'], [200, schema])
    const [old, now] = [
      { username: 'relay', password: 'old' },
      { username: 'relay', password: 'hunter2' },
    ]
    const login = { current: async () => old, renewed: async () => now }
    expect(await ask(schemaRegistry({ url, login }))).toMatchObject({ text: '"string"' })
    expect(logins).toEqual(['old', 'hunter2'].map((password) => `Basic ${btoa(`relay:${password}`)}`))
  })

  test('with any login says so and shows none', async () => {
    const { url, logins } = await answering([401, '{}'])
    const asking = ask(schemaRegistry({ url, login: { username: 'relay', password: 'hunter2' } }))
    const error = await asking.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'REGISTRY_UNAVAILABLE', disposition: 'fix-config' })
    expect(String(error)).not.toContain('hunter2')
    expect(logins).toHaveLength(1)
  })

  test('in time is given up', async () => {
    server = createServer(() => undefined)
    const url = `http://127.0.0.1:${await listen(server, 'a silent registry')}`
    await expect(ask(schemaRegistry({ url, timeoutMs: 50 }))).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE' })
  })
})
