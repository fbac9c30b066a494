/**
 * Reads the varints and fields of records. Whoever reads past `end` or a malformed varint gets an Error; a caller that
 * knows topic and offset turns it into CORRUPT_BATCH.
 */
export class Cursor {
  readonly bytes: Buffer
  at: number
  private readonly end: number

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = start
    this.end = end
  }

  get leftBytes(): number {
    return this.end - this.at
  }

  skip(bytes: number): void {
    this.at += bytes
    if (this.at > this.end) throw new Error(`the records end ${this.at - this.end} bytes too early`)
  }

  /** A zigzag varint of up to 64 bits; above 2^53 it is rounded (timestamps nobody can mean). */
  varint(): number {
    const first = this.byte()
    if (first < 0x80) return (first >>> 1) ^ -(first & 1)
    const second = this.byte()
    const both = (first & 0x7f) | ((second & 0x7f) << 7)
    if (second < 0x80) return (both >>> 1) ^ -(both & 1)
    return this.longVarint(both)
  }

  /** A length and that many bytes, as a view; null when the length is -1. */
  field(): Buffer | null {
    const length = this.varint()
    if (length === -1) return null
    return this.take(length)
  }

  /** Passes a length and that many bytes; answers the length, -1 for null. */
  skipField(): number {
    const length = this.varint()
    if (length !== -1) this.pass(length)
    return length
  }

  /** The next `length` bytes, as a view. */
  take(length: number): Buffer {
    const start = this.at
    this.pass(length)
    return this.bytes.subarray(start, this.at)
  }

  /** Whether the next `length` bytes are `wanted`; if so, they are passed. */
  startsWith(wanted: Buffer, length: number): boolean {
    if (length !== wanted.length || length > this.leftBytes) return false
    for (let i = 0; i < length; i++) if (this.bytes[this.at + i] !== wanted[i]) return false
    this.at += length
    return true
  }

  private pass(length: number): void {
    if (length < 0 || length > this.leftBytes)
      throw new Error(`a length of ${length} where ${this.leftBytes} bytes are left`)
    this.at += length
  }

  private longVarint(low: number): number {
    let unsigned = low
    for (let scale = 2 ** 14; scale < 2 ** 70; scale *= 128) {
      const byte = this.byte()
      unsigned += (byte & 0x7f) * scale
      if (byte < 0x80) return unsigned % 2 === 0 ? unsigned / 2 : -(unsigned + 1) / 2
    }
    throw new Error('a varint is longer than 10 bytes')
  }

  private byte(): number {
    if (this.at >= this.end) throw new Error('the records end in the middle of a number')
    return this.bytes[this.at++] as number
  }
}
