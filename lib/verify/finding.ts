/** What one check found. */
export interface Finding {
  /** Stable: part of `--json`. */
  readonly check: string
  /**
   * `violated`: the promise was broken. `unproven`: it cannot be told. `noted`: nothing is wrong, somebody may want to know.
   */
  readonly status: 'held' | 'violated' | 'unproven' | 'noted'
  /** How many. */
  readonly count: number
  /** One line for people: what was found, and where it matters what to do. */
  readonly detail: string
  /** Places, a few of many. */
  readonly examples: readonly string[]
}

const examplesMax = 5

/** Counts places, and remembers the first few of them. */
export class Places {
  count = 0
  readonly examples: string[] = []

  add(place: () => string): void {
    this.count++
    if (this.examples.length < examplesMax) this.examples.push(place())
  }

  finding(check: string, status: Finding['status'], detail: (count: number) => string): Finding {
    const { count, examples } = this
    return { check, status: count === 0 ? 'held' : status, count, detail: detail(count), examples }
  }
}

export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
