import type { WrittenPartition } from './load.ts'
import { idOf, type Numbered } from './numbers.ts'

/** What a reader found, against what the load knows that it wrote. Knows nothing of the relay or of its verifier. */
export interface TallyResult {
  /** Places in the outputs at which a record was seen. */
  readonly seen: number
  /** Acknowledged records of the source that no output shows. */
  readonly lost: number
  /** Outputs beyond the first of a record. */
  readonly duplicated: number
  /** Outputs that stand behind a later record of the same source partition. */
  readonly outOfOrder: number
  /** Outputs of records that the load never wrote, and places that showed two different records. */
  readonly unexplained: number
  /** The first few of each. */
  readonly examples: readonly string[]
}

/** Where the reader saw a record. Topic partitions are told apart by `output`. */
export interface Sighting {
  readonly output: string
  readonly offset: number
  /** null: not a record of the load. */
  readonly record: Numbered | null
}

const examplesMax = 5

/** Counts what one reader sees. The reader may be given a record again, as consumers may; a place counts once. */
export class Tally {
  readonly #outputs = new Map<string, Map<number, string>>()
  /** By source partition: how often each number was seen. */
  readonly #times = new Map<number, Map<number, number>>()
  /** By output and source partition: the highest number so far. */
  readonly #highest = new Map<string, number>()
  readonly #examples = new Map<string, string[]>()
  #seen = 0
  #duplicated = 0
  #outOfOrder = 0
  #unexplained = 0

  get seen(): number {
    return this.#seen
  }

  note({ output, offset, record }: Sighting): void {
    const places = this.#outputs.get(output) ?? new Map<number, string>()
    this.#outputs.set(output, places)
    const id = record === null ? '?' : idOf(record)
    const known = places.get(offset)
    if (known !== undefined && known !== id) this.#strange(`${output}/${offset} showed ${known}, then ${id}`)
    if (known !== undefined) return
    places.set(offset, id)
    this.#seen++
    if (record === null) this.#strange(`${output}/${offset} is not a record of the load`)
    else this.#count(record, output, `${id} at ${output}/${offset}`)
  }

  judge(written: readonly WrittenPartition[]): TallyResult {
    const lost = written.flatMap((partition, index) => this.#missing(index, partition))
    const invented = [...this.#times].flatMap(([partition, numbers]) =>
      [...numbers.keys()].filter((number) => number >= (written[partition]?.next ?? 0)),
    ).length
    const examples = [
      ...lost.slice(0, examplesMax).map((id) => `lost: ${id}`),
      ...[...this.#examples].flatMap(([what, places]) => places.map((place) => `${what}: ${place}`)),
    ]
    return {
      seen: this.#seen,
      lost: lost.length,
      duplicated: this.#duplicated,
      outOfOrder: this.#outOfOrder,
      unexplained: this.#unexplained + invented,
      examples,
    }
  }

  #count({ partition, number }: Numbered, output: string, place: string): void {
    const numbers = this.#times.get(partition) ?? new Map<number, number>()
    this.#times.set(partition, numbers)
    const times = (numbers.get(number) ?? 0) + 1
    numbers.set(number, times)
    const lane = `${output} from ${partition}`
    const highest = this.#highest.get(lane) ?? -1
    this.#highest.set(lane, Math.max(highest, number))
    if (times > 1) {
      this.#duplicated++
      this.#example('duplicated', place)
    } else if (number < highest) {
      this.#outOfOrder++
      this.#example('out of order', place)
    }
  }

  #missing(partition: number, { next, unsure }: WrittenPartition): string[] {
    const numbers = this.#times.get(partition)
    const missing: string[] = []
    for (let number = 0; number < next; number++) {
      if (!numbers?.has(number) && !unsure.has(number)) missing.push(idOf({ partition, number }))
    }
    return missing
  }

  #strange(place: string): void {
    this.#unexplained++
    this.#example('unexplained', place)
  }

  #example(what: string, place: string): void {
    const places = this.#examples.get(what) ?? []
    this.#examples.set(what, places)
    if (places.length < examplesMax) places.push(place)
  }
}
