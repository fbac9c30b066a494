import type { BytesCodec } from './codec.ts'

/**
 * The bytes as they stand in the log, null included: nothing is parsed, checked or copied. The default codec of keys and
 * dead letters, and the fastest way through for records that a relay only routes.
 */
export function bytes(): BytesCodec {
  return rawBytes
}

const rawBytes: BytesCodec = {
  name: 'bytes',
  nullable: true,
  decode: (raw) => raw,
  encode: requireBytes,
}

/** Types forbid anything else; a relay in JavaScript or behind a cast must not write `[object Object]`. */
function requireBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new TypeError(`bytes() takes a Buffer or Uint8Array, not ${typeof value}; encode the value or use json()`)
}
