/** Decompressed bytes would pass the bound: an attack or a batch that this process cannot hold. */
export class OutputLimitError extends Error {
  override readonly name = 'OutputLimitError'
  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`)
  }
}

/** Output of a decompressor that copies from its own past: grows as needed, never past its bound. */
export class Output {
  private readonly maxBytes: number
  private bytes: Buffer
  private end = 0

  constructor(expectedBytes: number, maxBytes: number) {
    this.maxBytes = maxBytes
    this.bytes = Buffer.allocUnsafeSlow(Math.min(expectedBytes, maxBytes))
  }

  get length(): number {
    return this.end
  }

  /** Appends `source[from, from + length)`. */
  literal(source: Buffer, from: number, length: number): void {
    if (length < 0 || from + length > source.length)
      throw new Error(`${length} literal bytes pass the end of the input`)
    this.reserve(length)
    if (length < 16) for (let i = 0; i < length; i++) this.bytes[this.end + i] = source[from + i] as number
    else source.copy(this.bytes, this.end, from, from + length)
    this.end += length
  }

  /** Appends `length` bytes from `distance` before the end; they may overlap what is being appended (a run). */
  repeat(distance: number, length: number): void {
    if (distance <= 0 || distance > this.end)
      throw new Error(`a match reaches ${distance} back, only ${this.end} exist`)
    this.reserve(length)
    const { bytes, end } = this
    if (distance >= length && length >= 32) bytes.copyWithin(end, end - distance, end - distance + length)
    else for (let i = end; i < end + length; i++) bytes[i] = bytes[i - distance] as number
    this.end += length
  }

  toBuffer(): Buffer {
    return this.bytes.subarray(0, this.end)
  }

  private reserve(length: number): void {
    const needed = this.end + length
    if (needed <= this.bytes.length) return
    if (needed > this.maxBytes) throw new OutputLimitError(this.maxBytes)
    const grown = Buffer.allocUnsafeSlow(Math.min(this.maxBytes, Math.max(needed, this.bytes.length * 2)))
    this.bytes.copy(grown, 0, 0, this.end)
    this.bytes = grown
  }
}
