type Numbers = Int32Array | Float64Array | Uint8Array

/** One field of very many records: grows by half, holds nothing but the numbers. */
export class Column<T extends Numbers> {
  private numbers: T
  private used = 0
  private readonly make: new (
    length: number,
  ) => T

  constructor(make: new (length: number) => T) {
    this.make = make
    this.numbers = new make(1024)
  }

  push(value: number): void {
    if (this.used === this.numbers.length) this.grow()
    this.numbers[this.used++] = value
  }

  get length(): number {
    return this.used
  }

  /** What was pushed so far; a view, not a copy. */
  get values(): T {
    return this.numbers.subarray(0, this.used) as T
  }

  private grow(): void {
    const wider = new this.make(Math.ceil(this.used * 1.5))
    wider.set(this.numbers)
    this.numbers = wider
  }
}
