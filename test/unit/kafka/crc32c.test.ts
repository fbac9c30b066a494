import fc from 'fast-check'
import { createCRC32 } from 'hash-wasm'
import { expect, test } from 'vitest'
import { crc32c } from '../../../lib/kafka/crc32c.ts'

const castagnoli = 0x82f63b78

test('the check value of CRC-32C', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  expect(crc32c(Buffer.alloc(0))).toBe(0)
})

test('RFC 3720 vectors: 32 bytes of zeros, of ones, ascending', () => {
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa)
  expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43)
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e)
})

test('any range of any bytes has the checksum that an independent implementation finds', async () => {
  const oracle = await createCRC32(castagnoli)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), fc.nat(200), (bytes, a, b) => {
      const [start, end] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)]
      const wanted = oracle.init().update(bytes.subarray(start, end)).digest('hex')
      expect(crc32c(bytes, start, end).toString(16).padStart(8, '0')).toBe(wanted)
    }),
  )
})
