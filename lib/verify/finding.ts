/** What one check found. */
export interface Finding {
  /** Its name; part of `--json`. */
  readonly check: string
  /** `violated`: the promise was broken. `unproven`: it cannot be told. `noted`: nothing is wrong, somebody may want to know. */
  readonly status: 'held' | 'violated' | 'unproven' | 'noted'
  /** How many. */
  readonly count: number
  /** One line for people: what was found, and what to do about it. */
  readonly detail: string
  /** The first few places. */
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

  /** `held` when there is none. */
  finding(check: string, status: Finding['status'], held: string, found: (count: number) => string): Finding {
    const { count, examples } = this
    return count === 0
      ? { check, status: 'held', count, detail: held, examples }
      : { check, status, count, detail: found(count), examples }
  }
}

export const figure = (count: number): string => count.toLocaleString('en')

export const plural = (count: number, noun: string): string => `${figure(count)} ${noun}${count === 1 ? '' : 's'}`
