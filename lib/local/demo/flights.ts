import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { parquetMetadata, parquetRead } from 'hyparquet'
import { invariant } from '../../invariant.ts'

/** One flight as the source topic carries it. */
export interface Flight {
  /** Scheduled departure, local time, to the minute: `2001-01-31T17:05`. */
  readonly date: string
  /** Minutes behind schedule; below 0: early. */
  readonly delay: number
  /** Statute miles. */
  readonly distance: number
  readonly origin: string
  readonly destination: string
}

export interface Flights {
  readonly count: number
  at(index: number): Flight
}

/** Flights of the United States in 2001, in order of departure: all that the file has. */
export const flightsMax = 3_000_000

const columns = ['date', 'delay', 'distance', 'origin', 'destination'] as const
type Column = (typeof columns)[number]

const minuteMs = 60_000

/**
 * Reads the first `count` flights of `flights-3m.parquet` from the npm package vega-datasets, 12 bytes of memory each: a
 * row as an object would take some 200.
 */
export async function readFlights(count: number): Promise<Flights> {
  invariant(count >= 1 && count <= flightsMax, `${count} flights were asked for, the file has 1 to ${flightsMax}`)
  const bytes = await readFile(flightsFile())
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  const metadata = parquetMetadata(file)
  const table = new FlightTable(count)
  let rowStart = 0
  for (const { num_rows } of metadata.row_groups) {
    if (rowStart >= count) break
    const rowEnd = Math.min(count, rowStart + Number(num_rows))
    // One row group after another: all at once would stand in memory together.
    await parquetRead({
      file,
      metadata,
      columns: [...columns],
      rowStart,
      rowEnd,
      compressors: { ZSTD: (compressed) => zstdDecompressSync(compressed) },
      onChunk: (chunk) => table.fill(chunk.columnName as Column, chunk.columnData, chunk.rowStart),
    })
    rowStart = rowEnd
  }
  return table
}

function flightsFile(): string {
  const entry = createRequire(import.meta.url).resolve('vega-datasets')
  return join(dirname(entry), '..', 'data', 'flights-3m.parquet')
}

class FlightTable implements Flights {
  readonly count: number
  readonly #minutes: Int32Array
  readonly #delays: Int16Array
  readonly #miles: Int16Array
  readonly #origins: Uint16Array
  readonly #destinations: Uint16Array
  readonly #airports: string[] = []
  readonly #airportNumbers = new Map<string, number>()

  constructor(count: number) {
    this.count = count
    this.#minutes = new Int32Array(count)
    this.#delays = new Int16Array(count)
    this.#miles = new Int16Array(count)
    this.#origins = new Uint16Array(count)
    this.#destinations = new Uint16Array(count)
  }

  fill(column: Column, values: ArrayLike<unknown>, rowStart: number): void {
    const [target, toNumber] = this.#target(column)
    const end = Math.min(values.length, this.count - rowStart)
    for (let index = 0; index < end; index++) target[rowStart + index] = toNumber(values[index])
  }

  at(index: number): Flight {
    return {
      date: new Date(numberAt(this.#minutes, index) * minuteMs).toISOString().slice(0, 16),
      delay: numberAt(this.#delays, index),
      distance: numberAt(this.#miles, index),
      origin: this.#airport(this.#origins, index),
      destination: this.#airport(this.#destinations, index),
    }
  }

  #target(column: Column): readonly [Int32Array | Int16Array | Uint16Array, (value: unknown) => number] {
    if (column === 'date') return [this.#minutes, (value) => Number(value) / minuteMs]
    if (column === 'delay') return [this.#delays, Number]
    if (column === 'distance') return [this.#miles, Number]
    return [column === 'origin' ? this.#origins : this.#destinations, (value) => this.#airportNumber(String(value))]
  }

  #airportNumber(code: string): number {
    const known = this.#airportNumbers.get(code)
    if (known !== undefined) return known
    this.#airportNumbers.set(code, this.#airports.length)
    return this.#airports.push(code) - 1
  }

  #airport(numbers: Uint16Array, index: number): string {
    const code = this.#airports[numberAt(numbers, index)]
    invariant(code !== undefined, `flight ${index} has no airport`)
    return code
  }
}

function numberAt(numbers: Int32Array | Int16Array | Uint16Array, index: number): number {
  const found = numbers[index]
  invariant(found !== undefined, `there is no flight ${index}`)
  return found
}
