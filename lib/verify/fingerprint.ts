import type { Header } from '../kafka/record.ts'

/** What of a record counts as its content. Timestamps do not: transforms may take them from the clock. */
export interface Content {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
}

/**
 * 64 bits of a record's content, as two signed 32-bit halves: of millions of records no object is kept, only these.
 *
 * Two different records are taken for the same with a chance of about n^2 / 2^65: one in four million for a log of
 * 3,000,000 records. Good against accidents, not against somebody who makes collisions on purpose.
 *
 * The mixing steps are those of MurmurHash3 (Austin Appleby, public domain) with two sets of constants side by side.
 */
export class Fingerprint {
  high = 0
  low = 0

  /** `scope` is part of the identity: the place that a record belongs to, 0 where the place does not matter. */
  of(scope: number, { key, value, headers }: Content): this {
    this.begin(scope).bytes(key).bytes(value)
    for (const header of headers) this.text(header.key).bytes(header.value)
    return this.end()
  }

  /** For identities that are not the content: an id, or the place in the source that a dead letter names. */
  ofText(scope: number, text: string): this {
    return this.begin(scope).text(text).end()
  }

  private begin(scope: number): this {
    this.high = 0x3c6ef372
    this.low = 0x1f83d9ab
    this.word(scope)
    return this
  }

  private text(text: string): this {
    return this.bytes(Buffer.from(text, 'utf8'))
  }

  /** The length goes first: null, empty and the border between two fields all count. */
  private bytes(bytes: Buffer | null): this {
    if (bytes === null) return this.word(-1)
    const { length } = bytes
    this.word(length)
    const tail = length & ~3
    for (let at = 0; at < tail; at += 4) this.word(wordAt(bytes, at))
    let last = 0
    for (let at = length - 1; at >= tail; at--) last = (last << 8) | byteAt(bytes, at)
    return length > tail ? this.word(last) : this
  }

  private word(word: number): this {
    let one = Math.imul(word, 0xcc9e2d51)
    one = (one << 15) | (one >>> 17)
    let high = this.high ^ Math.imul(one, 0x1b873593)
    high = (high << 13) | (high >>> 19)
    this.high = (Math.imul(high, 5) + 0xe6546b64) | 0
    let two = Math.imul(word, 0x239b961b)
    two = (two << 16) | (two >>> 16)
    let low = this.low ^ Math.imul(two, 0xab0e9789)
    low = (low << 17) | (low >>> 15)
    this.low = (Math.imul(low, 5) + this.high + 0x0bcaa747) | 0
    return this
  }

  private end(): this {
    this.high = scatter(this.high + this.low)
    this.low = scatter(this.low + this.high)
    return this
  }
}

/** Every bit of the state reaches every bit of the result. */
function scatter(state: number): number {
  let hash = state | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

const byteAt = (bytes: Buffer, at: number): number => bytes[at] as number

const wordAt = (bytes: Buffer, at: number): number =>
  byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8) | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24)
