import { expect, test } from 'vitest'
import { ValidationError } from '../../../../lib/codecs/codec.ts'
import { jsonSchema } from '../../../../lib/codecs/registry/json-schema.ts'
import { frame } from '../../../../lib/codecs/registry/wire-format.ts'
import { memoryRegistry } from '../../../../lib/testing/memory-registry.ts'
import { decoded, opened } from '../../../helpers/registry-codecs.ts'

const order = {
  type: 'object',
  properties: { id: { type: 'string' }, total: { type: 'number', minimum: 0 } },
  required: ['id'],
  additionalProperties: false,
}

test.each([
  undefined,
  'http://json-schema.org/draft-06/schema#',
  'http://json-schema.org/draft-07/schema#',
  'https://json-schema.org/draft/2019-09/schema',
  'https://json-schema.org/draft/2020-12/schema',
])('values are checked both ways, draft %s', async ($schema) => {
  const schema = { ...($schema && { $schema }), ...order }
  const codec = await opened(jsonSchema<object>({ schema }), memoryRegistry())
  const bytes = Buffer.from(codec.encode({ id: 'a', total: 1 }))
  expect(bytes.subarray(5).toString()).toBe('{"id":"a","total":1}')
  expect(codec.decode(bytes)).toEqual({ id: 'a', total: 1 })
  expect(() => codec.decode(frame(1, Buffer.from('{"id":"a","total":-1}')))).toThrow(ValidationError)
  expect(() => codec.encode({ total: 1 })).toThrow("must have required property 'id'")
})

test('a draft that is too old is said to be', async () => {
  const schema = { $schema: 'http://json-schema.org/draft-04/schema#', ...order }
  const codec = await opened(jsonSchema<object>({ schema }), memoryRegistry())
  expect(() => codec.encode({ id: 'a' })).toThrow('older than what is supported')
})

test('what is wrong is named by its place; nothing of the value is shown', async () => {
  const codec = await opened(jsonSchema<object>({ schema: order }), memoryRegistry())
  const decode = () => codec.decode(frame(1, Buffer.from('{"id":"hunter2","total":"hunter2"}')))
  expect(decode).toThrow('/total must be number')
  expect(decode).not.toThrow('hunter2')
  expect(() => codec.decode(frame(1, Buffer.from('{"id":')))).toThrow('not JSON')
})

test('schemas that it refers to are fetched with it', async () => {
  const money = { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] }
  const registry = memoryRegistry({ money: { type: 'JSON', schema: money } })
  const schema = { type: 'object', properties: { total: { $ref: 'money.json' } } }
  const references = [{ name: 'money.json', subject: 'money', version: 1 }]
  const codec = await opened(jsonSchema<object>({ schema, references }), registry)
  expect(await decoded(codec, codec.encode({ total: { cents: 1 } }))).toEqual({ total: { cents: 1 } })
  expect(() => codec.encode({ total: {} })).toThrow('/total must have required property')
})
