import { describe, expect, it } from 'vitest'
import { Reader } from '../../../../lib/kafka/protocol/reader.ts'
import { Writer } from '../../../../lib/kafka/protocol/writer.ts'

const uuid = '0123abcd-4567-89ef-0123-456789abcdef'

interface Primitive {
  readonly name: string
  write(writer: Writer): void
  read(reader: Reader): unknown
  readonly value: unknown
}

const primitives: readonly Primitive[] = [
  { name: 'int8', write: (to) => to.int8(-7), read: (from) => from.int8(), value: -7 },
  { name: 'int16', write: (to) => to.int16(-700), read: (from) => from.int16(), value: -700 },
  { name: 'uint16', write: (to) => to.uint16(65_000), read: (from) => from.uint16(), value: 65_000 },
  { name: 'int32', write: (to) => to.int32(-70_000), read: (from) => from.int32(), value: -70_000 },
  { name: 'int64', write: (to) => to.int64(-7n << 40n), read: (from) => from.int64(), value: -7n << 40n },
  { name: 'bool', write: (to) => to.bool(true), read: (from) => from.bool(), value: true },
  { name: 'uvarint', write: (to) => to.uvarint(300_000), read: (from) => from.uvarint(), value: 300_000 },
  { name: 'uuid', write: (to) => to.uuid(uuid), read: (from) => from.uuid(), value: uuid },
  { name: 'string', write: (to) => to.string('größer'), read: (from) => from.string(), value: 'größer' },
  {
    name: 'compact string',
    write: (to) => to.compactString('größer'),
    read: (from) => from.compactString(),
    value: 'größer',
  },
  {
    name: 'a string larger than a block',
    write: (to) => to.compactString('x'.repeat(5000)),
    read: (from) => from.compactString(),
    value: 'x'.repeat(5000),
  },
  {
    name: 'bytes',
    write: (to) => to.compactBytes(Buffer.from([1, 2, 3])),
    read: (from) => from.compactBytes(),
    value: Buffer.from([1, 2, 3]),
  },
  {
    name: 'bytes that are not copied',
    write: (to) => to.compactBytes(Buffer.alloc(4000, 7)),
    read: (from) => from.compactBytes(),
    value: Buffer.alloc(4000, 7),
  },
]

describe('Writer', () => {
  it.each(primitives)('writes $name whole wherever its blocks end', ({ write, read, value }) => {
    for (let prefix = 490; prefix <= 530; prefix++) {
      const writer = new Writer()
      for (let index = 0; index < prefix; index++) writer.int8(index % 100)
      write(writer)
      writer.int32(42)
      const reader = new Reader(Buffer.concat(writer.finish()))
      for (let index = 0; index < prefix; index++) expect(reader.int8()).toBe(index % 100)
      expect(read(reader)).toEqual(value)
      expect(reader.int32()).toBe(42)
      reader.end()
    }
  })
})
