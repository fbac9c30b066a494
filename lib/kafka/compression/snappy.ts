import { Output, OutputLimitError } from './output.ts'

/** Snappy as Java clients frame it (xerial): a magic, two versions, then length-prefixed raw blocks. */
const xerialMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const xerialHeaderBytes = 16

/**
 * Snappy, raw (librdkafka) or framed (Java and others); the framing is told apart by its magic.
 * @throws OutputLimitError above `maxBytes`; Error when malformed.
 */
export function inflateSnappy(compressed: Buffer, maxBytes: number): Buffer {
  if (!compressed.subarray(0, xerialMagic.length).equals(xerialMagic)) return inflateBlock(compressed, maxBytes)
  const blocks: Buffer[] = []
  let leftBytes = maxBytes
  for (let at = xerialHeaderBytes; at < compressed.length; ) {
    const start = at + 4
    const end = start + compressed.readUInt32BE(at)
    if (end > compressed.length) throw new Error(`a snappy block ends at ${end}, the input at ${compressed.length}`)
    const block = inflateBlock(compressed.subarray(start, end), leftBytes)
    blocks.push(block)
    leftBytes -= block.length
    at = end
  }
  return blocks.length === 1 && blocks[0] !== undefined ? blocks[0] : Buffer.concat(blocks)
}

/** One raw block: its size, then literals and copies (google/snappy, format_description.txt). */
function inflateBlock(block: Buffer, maxBytes: number): Buffer {
  const preamble = readPreamble(block)
  if (preamble.sizeBytes > maxBytes) throw new OutputLimitError(maxBytes)
  const output = new Output(preamble.sizeBytes, preamble.sizeBytes)
  for (let at = preamble.end; at < block.length; ) at = inflateElement(block, at, output)
  if (output.length !== preamble.sizeBytes) {
    throw new Error(`a snappy block says ${preamble.sizeBytes} bytes and holds ${output.length}`)
  }
  return output.toBuffer()
}

function readPreamble(block: Buffer): { readonly sizeBytes: number; readonly end: number } {
  let sizeBytes = 0
  for (let at = 0; at < 5; at++) {
    const byte = block.readUInt8(at)
    sizeBytes += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return { sizeBytes, end: at + 1 }
  }
  throw new Error('a snappy block has no size')
}

/** Lengths above 60 of a literal, and distances of copies, follow the tag in little-endian bytes. */
function inflateElement(block: Buffer, at: number, output: Output): number {
  const tag = block.readUInt8(at)
  const high = tag >>> 2
  switch (tag & 3) {
    case 0: {
      const extra = high < 60 ? 0 : high - 59
      const length = 1 + (extra === 0 ? high : block.readUIntLE(at + 1, extra))
      output.literal(block, at + 1 + extra, length)
      return at + 1 + extra + length
    }
    case 1:
      output.repeat(((tag >>> 5) << 8) | block.readUInt8(at + 1), (high & 7) + 4)
      return at + 2
    case 2:
      output.repeat(block.readUInt16LE(at + 1), high + 1)
      return at + 3
    default:
      output.repeat(block.readUInt32LE(at + 1), high + 1)
      return at + 5
  }
}
