import { isUtf8 } from 'node:buffer'
import type { Codec } from './codec.ts'

/** UTF-8 text. Bytes that are not UTF-8 are refused, never replaced: a replaced character could change a key. */
export function string(): Codec<string> {
  return utf8
}

const utf8: Codec<string> = { name: 'string', decode: utf8Text, encode: utf8Bytes }

/** @throws TypeError when the bytes are not UTF-8. */
export function utf8Text(raw: Buffer): string {
  if (!isUtf8(raw)) throw new TypeError(`the ${raw.length} bytes are not UTF-8; read them with bytes()`)
  return raw.toString('utf8')
}

function utf8Bytes(value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  throw new TypeError(`string() takes a string, not ${value === null ? 'null' : typeof value}`)
}
