import { Output } from './output.ts'

const frameMagic = 0x184d2204
const flag = { version: 0xc0, blockChecksum: 0x10, contentSize: 0x08, contentChecksum: 0x04, dictionary: 0x01 } as const
const minMatch = 4

/**
 * LZ4 frames, one or several (lz4_Frame_format.md), linked blocks included.
 *
 * Its xxHash checksums are skipped: the batch's CRC32C covers the same bytes, and Kafka's oldest clients wrote wrong ones.
 * @throws OutputLimitError above `maxBytes`; Error when malformed or when a dictionary is needed.
 */
export function inflateLz4Frames(compressed: Buffer, maxBytes: number): Buffer {
  const output = new Output(compressed.length * 4, maxBytes)
  for (let at = 0; at < compressed.length; ) at = inflateFrame(compressed, at, output)
  return output.toBuffer()
}

function inflateFrame(input: Buffer, start: number, output: Output): number {
  if (input.readUInt32LE(start) !== frameMagic) throw new Error('an LZ4 frame does not begin with its magic')
  const flags = input.readUInt8(start + 4)
  if ((flags & flag.version) !== 0x40) throw new Error(`LZ4 frame version ${flags >>> 6} is not known`)
  if (flags & flag.dictionary) throw new Error('an LZ4 frame needs a dictionary')
  const blockTrailer = flags & flag.blockChecksum ? 4 : 0
  let at = start + 7 + (flags & flag.contentSize ? 8 : 0)
  for (;;) {
    const sizeAndKind = input.readUInt32LE(at)
    at += 4
    if (sizeAndKind === 0) return within(input, at + (flags & flag.contentChecksum ? 4 : 0))
    const end = within(input, at + (sizeAndKind & 0x7fffffff))
    if (sizeAndKind >= 0x80000000) output.literal(input, at, end - at)
    else inflateBlock(input, at, end, output)
    at = end + blockTrailer
  }
}

function within(input: Buffer, end: number): number {
  if (end > input.length) throw new Error(`a part of an LZ4 frame ends at ${end}, the input at ${input.length}`)
  return end
}

/** Sequences of literals and a match; the last one has literals only (lz4_Block_format.md). */
function inflateBlock(input: Buffer, start: number, end: number, output: Output): void {
  const cursor = { input, at: start }
  while (cursor.at < end) {
    const token = input.readUInt8(cursor.at++)
    const literalBytes = readLength(cursor, token >>> 4)
    output.literal(input, cursor.at, literalBytes)
    cursor.at += literalBytes
    if (cursor.at === end) return
    const distance = input.readUInt16LE(cursor.at)
    cursor.at += 2
    output.repeat(distance, minMatch + readLength(cursor, token & 15))
  }
  throw new Error('an LZ4 block does not end with literals')
}

/** 15 means that bytes follow, to be added up until one is not 255. */
function readLength(cursor: { readonly input: Buffer; at: number }, nibble: number): number {
  let length = nibble
  if (nibble < 15) return length
  for (;;) {
    const byte = cursor.input.readUInt8(cursor.at++)
    length += byte
    if (byte !== 255) return length
  }
}
