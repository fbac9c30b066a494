import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MalformedMessage, Reader } from '../../../../lib/kafka/protocol/reader.ts'
import { lengthOf, Writer } from '../../../../lib/kafka/protocol/writer.ts'

function written(write: (writer: Writer) => void): Buffer {
  const writer = new Writer()
  write(writer)
  return Buffer.concat(writer.finish())
}

const readerOf = (hex: string) => new Reader(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

describe('what Writer writes, Reader reads', () => {
  const roundTrip = <T>(values: fc.Arbitrary<T>, write: (writer: Writer, value: T) => void, read: (r: Reader) => T) =>
    fc.assert(
      fc.property(values, (value) => {
        const reader = new Reader(written((writer) => write(writer, value)))
        expect(read(reader)).toEqual(value)
        reader.end()
      }),
    )
  const text = fc.string({ unit: 'binary', maxLength: 300 })

  test('integers', () => {
    roundTrip(
      fc.integer({ min: -128, max: 127 }),
      (w, v) => w.int8(v),
      (r) => r.int8(),
    )
    roundTrip(
      fc.integer({ min: -32_768, max: 32_767 }),
      (w, v) => w.int16(v),
      (r) => r.int16(),
    )
    roundTrip(
      fc.integer({ min: 0, max: 65_535 }),
      (w, v) => w.uint16(v),
      (r) => r.uint16(),
    )
    roundTrip(
      fc.integer(),
      (w, v) => w.int32(v),
      (r) => r.int32(),
    )
    roundTrip(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (w, v) => w.uvarint(v),
      (r) => r.uvarint(),
    )
    roundTrip(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      (w, v) => w.int64(v),
      (r) => r.int64(),
    )
    roundTrip(
      fc.boolean(),
      (w, v) => w.bool(v),
      (r) => r.bool(),
    )
  })

  test('text, ids and bytes, null apart from empty', () => {
    roundTrip(
      text,
      (w, v) => w.string(v),
      (r) => r.string(),
    )
    roundTrip(
      fc.option(text),
      (w, v) => w.nullableString(v),
      (r) => r.nullableString(),
    )
    roundTrip(
      text,
      (w, v) => w.compactString(v),
      (r) => r.compactString(),
    )
    roundTrip(
      fc.option(text),
      (w, v) => w.compactNullableString(v),
      (r) => r.compactNullableString(),
    )
    roundTrip(
      fc.uuid(),
      (w, v) => w.uuid(v),
      (r) => r.uuid(),
    )
    const bytes = fc.uint8Array({ maxLength: 5_000 }).map((array): Buffer => Buffer.from(array))
    roundTrip(
      bytes,
      (w, v) => w.compactBytes(v),
      (r) => r.compactBytes(),
    )
    roundTrip(
      fc.option(bytes),
      (w, v) => w.compactNullableBytes(v),
      (r) => r.compactNullableBytes(),
    )
  })

  test('arrays, null apart from empty', () => {
    const items = fc.array(text, { maxLength: 40 })
    roundTrip(
      items,
      (w, v) => w.array(v, (item) => w.string(item)),
      (r) => r.array(() => r.string()),
    )
    roundTrip(
      items,
      (w, v) => w.compactArray(v, (item) => w.compactString(item)),
      (r) => r.compactArray(() => r.compactString()),
    )
    roundTrip(
      fc.option(items),
      (w, v) => w.compactNullableArray(v, (item) => w.compactString(item)),
      (r) => r.compactNullableArray(() => r.compactString()),
    )
  })

  test('tagged fields, of which a reader skips those that it does not know', () => {
    const bytes = written((writer) => {
      writer.tags([[0, (w) => w.compactString('known')], undefined, [7, (w) => w.int64(9n)], [300, (w) => w.int8(1)]])
      writer.int16(5)
    })
    const reader = new Reader(bytes)
    const found: string[] = []
    reader.tags((tag) => {
      if (tag !== 0) return false
      found.push(reader.compactString())
      return true
    })
    expect(found).toEqual(['known'])
    expect(reader.int16()).toBe(5)
    reader.end()
  })
})

test('large byte fields are passed on as they are, not copied', () => {
  const records = Buffer.alloc(100_000, 1)
  const writer = new Writer()
  writer.int32(1)
  writer.compactBytes(records)
  writer.int32(2)
  const chunks = writer.finish()
  expect(chunks).toContain(records)
  expect(lengthOf(chunks)).toBe(4 + 3 + records.length + 4)
})

test('byte fields are views into the message', () => {
  const message = Buffer.from('04aabbcc', 'hex')
  const bytes = new Reader(message).compactBytes()
  message[1] = 0
  expect(bytes).toEqual(Buffer.from('00bbcc', 'hex'))
})

describe('malformed bytes end in MalformedMessage', () => {
  test.each<[string, string, (reader: Reader) => unknown]>([
    ['an integer cut short', '0000', (r) => r.int32()],
    ['a string longer than the rest', '0005 6162', (r) => r.string()],
    ['a null string where none may be', 'ffff', (r) => r.string()],
    ['a compact string longer than the rest', 'ffffffff0f 61', (r) => r.compactString()],
    ['bytes longer than the rest', 'ffffffff07 00', (r) => r.compactNullableBytes()],
    ['an array of two thousand million items', '7fffffff 00', (r) => r.array(() => r.int8())],
    ['a compact array of four thousand million items', 'ffffffff0f 00', (r) => r.compactArray(() => r.int8())],
    ['a null array where none may be', '00', (r) => r.compactArray(() => r.int8())],
    ['a varint without an end', 'ffffffffffff', (r) => r.uvarint()],
    ['four thousand million tags', 'ffffffff0f 00', (r) => r.tags()],
    ['a tag longer than the rest', '01 00 05 00', (r) => r.tags()],
    ['a tag shorter than its field', '01 00 02 0000 0000', (r) => r.tags(() => r.int32() === 0)],
    ['a tag longer than its field', '01 00 05 0000 000000', (r) => r.tags(() => r.int32() === 0)],
    ['bytes left over', '00', (r) => r.end()],
  ])('%s', (_what, hex, read) => {
    expect(() => read(readerOf(hex))).toThrow(MalformedMessage)
  })

  test('and say where', () => {
    expect(() => readerOf('0005 6162').string()).toThrow('5 bytes wanted, 2 are left, at byte 2 of 4')
  })
})

test('a text that is not a UUID is refused before anything is sent', () => {
  expect(() => written((writer) => writer.uuid('not-a-uuid'))).toThrow(TypeError)
})
