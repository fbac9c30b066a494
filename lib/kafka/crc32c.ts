const tables = buildTables()

/**
 * CRC32C (Castagnoli, reflected polynomial 0x82F63B78) of `bytes[start, end)`, unsigned: the checksum of record batches.
 *
 * Plain tables, 16 bytes a step: 2 GB/s, as much as hash-wasm's, quicker on small batches, and nothing to load or await.
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let crc = -1
  let at = start
  for (; at + 16 <= end; at += 16) {
    crc =
      fold(crc ^ words.getInt32(at, true), 0xf00) ^
      fold(words.getInt32(at + 4, true), 0xb00) ^
      fold(words.getInt32(at + 8, true), 0x700) ^
      fold(words.getInt32(at + 12, true), 0x300)
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ entry((crc ^ words.getUint8(at)) & 0xff)
  return ~crc >>> 0
}

/** What four bytes add to the checksum; the table of the first one is at `first`, those of the next are below it. */
function fold(word: number, first: number): number {
  return (
    entry(first + (word & 0xff)) ^
    entry(first - 0x100 + ((word >>> 8) & 0xff)) ^
    entry(first - 0x200 + ((word >>> 16) & 0xff)) ^
    entry(first - 0x300 + (word >>> 24))
  )
}

function entry(index: number): number {
  return tables[index] as number
}

/** Sixteen tables of 256; table k holds the checksum of a byte that k zero bytes follow. */
function buildTables(): Int32Array {
  const built = new Int32Array(16 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
    built[byte] = crc
  }
  for (let index = 256; index < built.length; index++) {
    const shorter = built[index - 256] as number
    built[index] = (shorter >>> 8) ^ (built[shorter & 0xff] as number)
  }
  return built
}
