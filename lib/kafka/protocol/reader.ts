/** Bytes that do not follow Kafka's protocol: cut short, too long, or with a length that cannot be. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

const VARINT_BYTES_MAX = 5

/**
 * Reads Kafka's primitive types from one message. Every length is held against the bytes that are left before anything
 * is allocated, so malformed bytes end in `MalformedMessage` and never in a long loop or a large allocation.
 *
 * Byte fields are views into the message, not copies.
 * Source: https://kafka.apache.org/protocol#protocol_types, KIP-482 (compact types and tagged fields).
 */
export class Reader {
  readonly #buffer: Buffer
  #offset: number

  constructor(buffer: Buffer, offset = 0) {
    this.#buffer = buffer
    this.#offset = offset
  }

  get remaining(): number {
    return this.#buffer.length - this.#offset
  }

  int8(): number {
    return this.#buffer.readInt8(this.#take(1))
  }

  int16(): number {
    return this.#buffer.readInt16BE(this.#take(2))
  }

  uint16(): number {
    return this.#buffer.readUInt16BE(this.#take(2))
  }

  int32(): number {
    return this.#buffer.readInt32BE(this.#take(4))
  }

  int64(): bigint {
    return this.#buffer.readBigInt64BE(this.#take(8))
  }

  bool(): boolean {
    return this.int8() !== 0
  }

  /** Unsigned, at most 32 bits. */
  uvarint(): number {
    let value = 0
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      const byte = this.#buffer.readUInt8(this.#take(1))
      value += (byte & 0x7f) * 2 ** (7 * index)
      if (byte < 0x80) return value
    }
    throw this.#malformed(`varint of more than ${VARINT_BYTES_MAX} bytes`)
  }

  /** Lower-case, with hyphens. */
  uuid(): string {
    const start = this.#take(16)
    const hex = this.#buffer.toString('hex', start, start + 16)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }

  string(): string {
    return this.#present(this.nullableString(), 'string')
  }

  nullableString(): string | null {
    return this.#textOf(this.int16())
  }

  compactString(): string {
    return this.#present(this.compactNullableString(), 'string')
  }

  compactNullableString(): string | null {
    return this.#textOf(this.uvarint() - 1)
  }

  compactBytes(): Buffer {
    return this.#present(this.compactNullableBytes(), 'bytes')
  }

  compactNullableBytes(): Buffer | null {
    const length = this.uvarint() - 1
    if (length < 0) return null
    const start = this.#take(length)
    return this.#buffer.subarray(start, start + length)
  }

  array<T>(item: () => T): T[] {
    return this.#present(this.#items(this.int32(), item), 'array')
  }

  compactArray<T>(item: () => T): T[] {
    return this.#present(this.compactNullableArray(item), 'array')
  }

  compactNullableArray<T>(item: () => T): T[] | null {
    return this.#items(this.uvarint() - 1, item)
  }

  /** `field` reads the tag it is given and returns true, or returns false to have it skipped. */
  tags(field: (tag: number) => boolean = () => false): void {
    for (let left = this.uvarint(); left > 0; left--) {
      const tag = this.uvarint()
      const size = this.uvarint()
      if (size > this.remaining) throw this.#malformed(`tag ${tag} of ${size} bytes, ${this.remaining} are left`)
      const end = this.#offset + size
      if (!field(tag)) this.#offset = end
      if (this.#offset !== end) throw this.#malformed(`tag ${tag} does not have the ${size} bytes that it announces`)
    }
  }

  /** A message ends where its last field ends: bytes left over mean that both sides speak different versions. */
  end(): void {
    if (this.remaining > 0) throw this.#malformed(`${this.remaining} bytes left over`)
  }

  #items<T>(length: number, item: () => T): T[] | null {
    if (length < 0) return null
    if (length > this.remaining) throw this.#malformed(`array of ${length} items, ${this.remaining} bytes are left`)
    const items: T[] = []
    for (let index = 0; index < length; index++) items.push(item())
    return items
  }

  #textOf(length: number): string | null {
    if (length < 0) return null
    const start = this.#take(length)
    return this.#buffer.toString('utf8', start, start + length)
  }

  #take(length: number): number {
    if (length > this.remaining) throw this.#malformed(`${length} bytes wanted, ${this.remaining} are left`)
    const start = this.#offset
    this.#offset += length
    return start
  }

  #present<T>(value: T | null, what: string): T {
    if (value === null) throw this.#malformed(`null where a ${what} must be`)
    return value
  }

  #malformed(what: string): MalformedMessage {
    return new MalformedMessage(`malformed message: ${what}, at byte ${this.#offset} of ${this.#buffer.length}`)
  }
}
