const BLOCK_BYTES = 512
/** Below this, copying is cheaper than one more chunk. */
const COPY_BYTES_MAX = 2048

/**
 * Writes Kafka's primitive types. Large byte fields are not copied: `finish` returns chunks, in order, that together are
 * the message, so a buffer handed in must not change until the message has been sent.
 *
 * Source: https://kafka.apache.org/protocol#protocol_types, KIP-482 (compact types and tagged fields).
 */
export class Writer {
  readonly #chunks: Buffer[] = []
  #block = Buffer.allocUnsafe(BLOCK_BYTES)
  #start = 0
  #offset = 0

  int8(value: number): void {
    const at = this.#room(1)
    this.#block.writeInt8(value, at)
  }

  int16(value: number): void {
    const at = this.#room(2)
    this.#block.writeInt16BE(value, at)
  }

  uint16(value: number): void {
    const at = this.#room(2)
    this.#block.writeUInt16BE(value, at)
  }

  int32(value: number): void {
    const at = this.#room(4)
    this.#block.writeInt32BE(value, at)
  }

  int64(value: bigint): void {
    const at = this.#room(8)
    this.#block.writeBigInt64BE(value, at)
  }

  bool(value: boolean): void {
    this.int8(value ? 1 : 0)
  }

  /** Unsigned, at most 32 bits. */
  uvarint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      const at = this.#room(1)
      this.#block.writeUInt8((rest & 0x7f) | 0x80, at)
      rest = Math.floor(rest / 128)
    }
    const at = this.#room(1)
    this.#block.writeUInt8(rest, at)
  }

  uuid(value: string): void {
    const hex = value.replaceAll('-', '')
    if (!/^[0-9a-f]{32}$/i.test(hex)) throw new TypeError(`not a UUID: ${value}`)
    const at = this.#room(16)
    this.#block.write(hex, at, 'hex')
  }

  string(value: string): void {
    this.nullableString(value)
  }

  nullableString(value: string | null): void {
    this.int16(value === null ? -1 : Buffer.byteLength(value))
    if (value !== null) this.#text(value)
  }

  compactString(value: string): void {
    this.compactNullableString(value)
  }

  compactNullableString(value: string | null): void {
    this.uvarint(value === null ? 0 : Buffer.byteLength(value) + 1)
    if (value !== null) this.#text(value)
  }

  compactBytes(value: Buffer): void {
    this.compactNullableBytes(value)
  }

  compactNullableBytes(value: Buffer | null): void {
    this.uvarint(value === null ? 0 : value.length + 1)
    if (value !== null) this.raw(value)
  }

  array<T>(items: readonly T[], item: (item: T) => void): void {
    this.int32(items.length)
    items.forEach(item)
  }

  compactArray<T>(items: readonly T[], item: (item: T) => void): void {
    this.compactNullableArray(items, item)
  }

  compactNullableArray<T>(items: readonly T[] | null, item: (item: T) => void): void {
    this.uvarint(items === null ? 0 : items.length + 1)
    items?.forEach(item)
  }

  /** In ascending order of the tags; undefined for a field that has its default. */
  tags(fields: readonly (TaggedField | undefined)[] = []): void {
    const present = fields.filter((field) => field !== undefined)
    this.uvarint(present.length)
    for (const [tag, write] of present) {
      const field = new Writer()
      write(field)
      const chunks = field.finish()
      this.uvarint(tag)
      this.uvarint(lengthOf(chunks))
      for (const chunk of chunks) this.raw(chunk)
    }
  }

  raw(value: Buffer): void {
    if (value.length <= COPY_BYTES_MAX) {
      const at = this.#room(value.length)
      value.copy(this.#block, at)
    } else {
      this.#flush()
      this.#chunks.push(value)
    }
  }

  /** Ends the message. The writer is spent afterwards. */
  finish(): Buffer[] {
    this.#flush()
    return this.#chunks
  }

  #text(value: string): void {
    const at = this.#room(Buffer.byteLength(value))
    this.#block.write(value, at, 'utf8')
  }

  /** Where to write the next `length` bytes. May replace the block: call it first, then write. */
  #room(length: number): number {
    if (this.#offset + length > this.#block.length) {
      this.#flush()
      this.#block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, length))
      this.#start = 0
      this.#offset = 0
    }
    const at = this.#offset
    this.#offset += length
    return at
  }

  #flush(): void {
    if (this.#offset > this.#start) this.#chunks.push(this.#block.subarray(this.#start, this.#offset))
    this.#start = this.#offset
  }
}

export type TaggedField = readonly [tag: number, write: (writer: Writer) => void]

export const lengthOf = (chunks: readonly Buffer[]): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0)
