import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Content, Fingerprint } from '../../../lib/verify/fingerprint.ts'

const print = (content: Content, scope = 0) => {
  const { high, low } = new Fingerprint().of(scope, content)
  return `${high} ${low}`
}

const bytes = fc.option(fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array)))
const contents: fc.Arbitrary<Content> = fc.record({
  key: bytes,
  value: bytes,
  headers: fc.array(fc.record({ key: fc.string({ maxLength: 4 }), value: bytes }), { maxLength: 3 }),
})

const asText = ({ key, value, headers }: Content): string =>
  JSON.stringify([key, value, headers.map((header) => [header.key, header.value])])

test('two contents have the same fingerprint exactly when they are equal', () => {
  fc.assert(
    fc.property(contents, contents, (one, other) => {
      expect(print(one) === print(other)).toBe(asText(one) === asText(other))
    }),
    { numRuns: 2_000 },
  )
})

const of = (key: string | null, value: string | null, ...headers: [string, string | null][]): Content => ({
  key: key === null ? null : Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
  headers: headers.map(([name, text]) => ({ key: name, value: text === null ? null : Buffer.from(text) })),
})

test.each([
  ['a tombstone from an empty value', of('k', null), of('k', '')],
  ['no key from an empty one', of(null, 'v'), of('', 'v')],
  ['where the key ends and the value begins', of('ab', 'c'), of('a', 'bc')],
  ['a header without a value from an empty one', of('k', 'v', ['h', null]), of('k', 'v', ['h', ''])],
  ['the order of headers', of('k', 'v', ['a', '1'], ['b', '2']), of('k', 'v', ['b', '2'], ['a', '1'])],
  ['a header that is there twice', of('k', 'v', ['a', '1']), of('k', 'v', ['a', '1'], ['a', '1'])],
  ['zeros at the end', of('k', 'v\0'), of('k', 'v')],
  ['the last byte of a long value', of('k', `${'x'.repeat(1_000)}a`), of('k', `${'x'.repeat(1_000)}b`)],
])('tells %s', (_, one, other) => {
  expect(print(one)).not.toBe(print(other))
})

test('the same content at another place is another record', () => {
  expect(print(of('k', 'v'), 1)).not.toBe(print(of('k', 'v'), 2))
})

test('records that differ in a digit have fingerprints of their own, spread evenly also in fewer bits', () => {
  const fingerprint = new Fingerprint()
  const found = new Set<number>()
  const lowest = new Uint32Array(1 << 15)
  const count = 150_000
  for (let n = 0; n < count; n++) {
    const { high, low } = fingerprint.of(0, { key: null, value: Buffer.from(`{"n":${n}}`), headers: [] })
    found.add((high >>> 0) * 2 ** 20 + (low & 0xfffff)) // 52 of the 64 bits, exact in a number
    const slot = low & 0x7fff
    lowest[slot] = (lowest[slot] ?? 0) + 1
  }
  expect(found.size).toBe(count)
  // 4.6 a slot on average; chance alone goes to about 19 in one of 32,768 slots.
  expect(Math.max(...lowest)).toBeLessThan(25)
})
