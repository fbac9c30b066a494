import { expect, test } from 'vitest'
import { frame, schemaIdOf, unframe } from '../../../../lib/codecs/registry/wire-format.ts'

test('a value is a zero, the id of its schema in four bytes, and its contents', () => {
  const value = frame(0x01020304, Buffer.from('abc'))
  expect([...value]).toEqual([0, 1, 2, 3, 4, 97, 98, 99])
  expect(schemaIdOf(value)).toBe(0x01020304)
  expect(unframe(value)).toEqual({ id: 0x01020304, payload: Buffer.from('abc') })
  expect(unframe(frame(7, Buffer.alloc(0)))).toEqual({ id: 7, payload: Buffer.alloc(0) })
})

test.each([
  [Buffer.from('{"plain":"json"}'), 'begin with 123'],
  [Buffer.from([0, 0, 0, 1]), 'too short'],
  [Buffer.alloc(0), 'too short'],
])('bytes that no serializer of a registry wrote are told apart', (value, words) => {
  expect(schemaIdOf(value)).toBeNull()
  expect(() => unframe(value)).toThrow(words)
})
