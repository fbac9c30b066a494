import type { RelayRuntime } from './runtime.ts'

const perContainer = new WeakMap<RelayRuntime, TransformTurns>()

/**
 * Who runs the relay's own code in this process. Lanes transform side by side, but a record that is suspected of killing
 * the process does so with nothing beside it: a death then leaves the stage `transform` in the record of its lane only, and
 * no neighbour is blamed for it (poison, P8).
 *
 * In order of asking. Every turn ends by the deadline of the invocation that all lanes of a container share.
 */
export class TransformTurns {
  #running = 0
  #isAlone = false
  readonly #waiting: { readonly alone: boolean; readonly start: () => void }[] = []

  static of(runtime: RelayRuntime): TransformTurns {
    const known = perContainer.get(runtime) ?? new TransformTurns()
    perContainer.set(runtime, known)
    return known
  }

  async take<T>(alone: boolean, work: () => Promise<T>): Promise<T> {
    await this.#begin(alone)
    try {
      return await work()
    } finally {
      this.#running--
      this.#isAlone = false
      this.#startNext()
    }
  }

  #begin(alone: boolean): Promise<void> | void {
    if (this.#waiting.length === 0 && this.#fits(alone)) return this.#start(alone)
    return new Promise((resolve) => {
      this.#waiting.push({ alone, start: resolve })
    })
  }

  #fits(alone: boolean): boolean {
    return this.#running === 0 || !(alone || this.#isAlone)
  }

  #start(alone: boolean): void {
    this.#running++
    this.#isAlone = alone
  }

  #startNext(): void {
    for (let [next] = this.#waiting; next !== undefined && this.#fits(next.alone); [next] = this.#waiting) {
      this.#waiting.shift()
      this.#start(next.alone)
      next.start()
    }
  }
}
