import type { TransformCounts } from '../relay/compiled-relay.ts'
import type { RelayObserver } from '../relay/observer.ts'

const none: TransformCounts = { records: 0, outputs: 0, deadLetters: 0, skipped: 0 }

/** What the windows of one invocation came to: an execution environment works on one at a time. */
export class WindowCounts {
  #total = none

  readonly observer: RelayObserver = {
    windowCommitted: ({ counts }) => {
      this.#total = {
        records: this.#total.records + counts.records,
        outputs: this.#total.outputs + counts.outputs,
        deadLetters: this.#total.deadLetters + counts.deadLetters,
        skipped: this.#total.skipped + counts.skipped,
      }
    },
  }

  get total(): TransformCounts {
    return this.#total
  }

  reset(): void {
    this.#total = none
  }
}
