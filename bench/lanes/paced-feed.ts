import type { Clock } from '../../lib/clock.ts'
import type { NumberedRecords } from '../numbered-records.ts'

export interface FeedPlan {
  readonly partitions: number
  /** Over all partitions. */
  readonly recordsPerSecond: number
  /** Keys spread the outputs of one lane over all output partitions; without them they go to the one of its number. */
  readonly keyed: boolean
}

const tickMs = 25

/**
 * Writes to all partitions of a source at an even pace, one record to each in every round. Records are dated by when they
 * were due, not by when the feed came to write them: a machine too busy to write in time shows in the latencies.
 */
export class PacedFeed {
  /** That were written, acknowledged. */
  rounds = 0
  readonly #writer: NumberedRecords
  readonly #clock: Clock
  readonly #topic: string
  readonly #partitions: number
  readonly #keyed: boolean
  readonly #roundMs: number

  constructor(writer: NumberedRecords, clock: Clock, topic: string, plan: FeedPlan) {
    this.#writer = writer
    this.#clock = clock
    this.#topic = topic
    this.#partitions = plan.partitions
    this.#keyed = plan.keyed
    this.#roundMs = (1_000 * plan.partitions) / plan.recordsPerSecond
  }

  get records(): number {
    return this.rounds * this.#partitions
  }

  /** The first round, to some partitions only. */
  first(partitions: readonly number[]): Promise<void> {
    return this.#append(partitions, 0, 1, () => this.#clock.now())
  }

  /** All further rounds, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const all = Array.from({ length: this.#partitions }, (_, partition) => partition)
    const beganMs = this.#clock.now()
    for (this.rounds = 1; !signal.aborted; ) {
      const due = 1 + Math.floor((this.#clock.now() - beganMs) / this.#roundMs)
      if (due > this.rounds) await this.#append(all, this.rounds, due, (round) => beganMs + round * this.#roundMs)
      this.rounds = Math.max(this.rounds, due)
      await this.#clock.sleep(tickMs, signal).catch(() => undefined)
    }
  }

  #append(partitions: readonly number[], from: number, until: number, dueMs: (round: number) => number) {
    const rounds = { from, until, dueMs: (round: number) => Math.round(dueMs(round)), keyed: this.#keyed }
    return this.#writer.appendRounds(this.#topic, partitions, this.#partitions, rounds)
  }
}
