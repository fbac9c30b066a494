import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readIndexes, writeIndexes } from '../../../../lib/codecs/registry/message-indexes.ts'

test.each([
  [[0], [0]],
  [[1], [2, 2]],
  [
    [0, 2],
    [4, 0, 4],
  ],
  [[200], [2, 0x90, 3]],
])('%j is written as Confluent writes it', (indexes, bytes) => {
  expect([...writeIndexes(indexes)]).toEqual(bytes)
})

test('the first message may also be written out', () => {
  expect(readIndexes(Buffer.from([2, 0, 9]))).toEqual({ indexes: [0], message: Buffer.from([9]) })
})

test('whatever is written is read again, and what follows is the message', () => {
  const indexes = fc.array(fc.nat(100_000), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(indexes, fc.uint8Array({ maxLength: 20 }), (path, message) => {
      const read = readIndexes(Buffer.concat([writeIndexes(path), message]))
      expect(read.indexes).toEqual(path)
      expect([...read.message]).toEqual([...message])
    }),
  )
})

test.each([[[]], [[2]], [[0x80, 0x80, 0x80, 0x80, 0x80, 0x80]], [[4, 2]], [[1]], [[0xff, 0x7f]]])(
  '%j names no message',
  (bytes) => {
    expect(() => readIndexes(Buffer.from(bytes))).toThrow(TypeError)
  },
)
