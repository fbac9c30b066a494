/** Buffers of batches that nobody needs any more, to write the next ones into: each new one costs the collector its size. */
export class SpareBuffers {
  /** By size, ascending. */
  readonly #spare: Buffer[] = []

  /** The smallest spare one that is large enough, or a new one of that size. Holds whatever it held before. */
  take(bytesMin: number): Buffer {
    const index = this.#spare.findIndex(({ length }) => length >= bytesMin)
    const [taken] = index === -1 ? [] : this.#spare.splice(index, 1)
    return taken ?? Buffer.allocUnsafeSlow(bytesMin)
  }

  give(buffer: Buffer): void {
    const index = this.#spare.findIndex(({ length }) => length >= buffer.length)
    this.#spare.splice(index === -1 ? this.#spare.length : index, 0, buffer)
  }
}
