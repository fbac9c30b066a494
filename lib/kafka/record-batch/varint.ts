/**
 * Zigzag varints as records carry them, on plain numbers: lengths and offset deltas are 32 bit, timestamp deltas are
 * safe integers (2^53 ms is far beyond any calendar), so that no BigInt is made per record.
 */

/** Bytes that `value` takes as a zigzag varint. */
export function varintBytes(value: number): number {
  if (value >= -0x40 && value < 0x40) return 1
  if (value >= -0x2000 && value < 0x2000) return 2
  if (value >= -0x100000 && value < 0x100000) return 3
  if (value >= -0x8000000 && value < 0x8000000) return 4
  let bytes = 5
  for (let rest = Math.floor(zigzag(value) / 2 ** 35); rest > 0; rest = Math.floor(rest / 128)) bytes++
  return bytes
}

/** Writes `value` at `at` and returns the position behind it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = zigzag(value)
  let position = at
  for (; rest >= 0x80000000; rest = Math.floor(rest / 128)) bytes[position++] = (rest % 128) | 0x80
  for (; rest >= 0x80; rest >>>= 7) bytes[position++] = (rest & 0x7f) | 0x80
  bytes[position++] = rest
  return position
}

/** 0, -1, 1, -2 ... become 0, 1, 2, 3 ... Exact while |value| < 2^52. */
function zigzag(value: number): number {
  return value >= 0 ? value * 2 : value * -2 - 1
}
