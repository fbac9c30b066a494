import { readFileSync } from 'node:fs'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { compress } from 'snappyjs'
import { expect, test } from 'vitest'
import { inflate } from '../../../../lib/kafka/compression/inflate.ts'
import { OutputLimitError } from '../../../../lib/kafka/compression/output.ts'
import { javaBatch, pattern } from '../../../helpers/java-batches.ts'

const bound = 1_000_000
const whole = pattern(1000)

/** pattern(1000) as the `lz4` 1.9.4 command compresses it with various options. */
const lz4Frames: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../../fixtures/lz4-frames.json', import.meta.url), 'utf8'),
)
const lz4Frame = (name: string) => Buffer.from(lz4Frames[name] ?? '', 'base64')

const run = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 60 }))
const repetitive = fc
  .array(run, { maxLength: 40 })
  .map((runs) => Buffer.concat(runs.flatMap(([bytes, times]) => Array.from({ length: times }, () => bytes))))

/** Each compressed form of `whole`; snappy raw, as librdkafka writes it (Java's framing: see the decode tests). */
const compressed = {
  gzip: gzipSync(whole),
  zstd: zstdCompressSync(whole),
  snappy: compress(whole),
  lz4: lz4Frame('independent blocks'),
} as const
const kinds = ['gzip', 'zstd', 'snappy', 'lz4'] as const

test('raw snappy of any bytes, made by an independent compressor, is read back', () => {
  fc.assert(
    fc.property(repetitive, (bytes) => {
      expect(inflate('snappy', compress(bytes), bound).equals(bytes)).toBe(true)
    }),
  )
})

test.each(Object.keys(lz4Frames))('LZ4: %s are read back', (name) => {
  expect(inflate('lz4', lz4Frame(name), bound).equals(whole)).toBe(true)
})

test.each(kinds)('%s gives exactly the bound and not a byte more', (kind) => {
  expect(inflate(kind, compressed[kind], whole.length).equals(whole)).toBe(true)
  expect(() => inflate(kind, compressed[kind], whole.length - 1)).toThrow(OutputLimitError)
})

test.each(kinds)('%s that is cut off at any byte is an error, never a shorter answer', (kind) => {
  const bytes = compressed[kind]
  for (let length = 1; length < bytes.length; length++) {
    expect(() => inflate(kind, bytes.subarray(0, length), bound)).toThrow()
  }
})

test.each(['snappy', 'lz4'] as const)(
  'damaged %s ends in an error or in bytes within the bound, and it ends',
  (kind) => {
    fc.assert(
      fc.property(fc.nat(compressed[kind].length - 1), fc.nat(255), (at, byte) => {
        const damaged = Buffer.from(compressed[kind])
        damaged[at] = byte
        let length = 0
        try {
          length = inflate(kind, damaged, 5000).length
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
        }
        expect(length).toBeLessThanOrEqual(5000)
      }),
      { numRuns: 1000 },
    )
  },
)

test('a snappy block that claims gigabytes is refused before they are allocated', () => {
  expect(() => inflate('snappy', Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00]), bound)).toThrow(OutputLimitError)
})

test("Java's framed snappy is told from raw snappy", () => {
  const framed = javaBatch('small-snappy').subarray(61)
  expect(framed.subarray(1, 7).toString()).toBe('SNAPPY')
  expect(inflate('snappy', framed, bound).length).toBeGreaterThan(5000)
})
