import type { KafkaRecord } from '../../kafka/record.ts'
import { callWithAttempts } from './attempts.ts'
import { type ConcurrencyLimits, contextOf, knownRejection, type TransformWindow, type UserFunction } from './plan.ts'
import { rejectionOf, type TransformOutcome } from './results.ts'
import { decodeRecord } from './source-record.ts'

/**
 * Several calls at once, started in source order. Outcomes wait until all before them are settled, so outputs, dead
 * letters and stops come in source order too, however long each call takes.
 */
export async function transformConcurrently(
  window: TransformWindow,
  transform: UserFunction,
  limits: ConcurrencyLimits,
): Promise<void> {
  const { records, time } = window
  time.startTimer()
  const pending = records.entries()
  const settler = new InOrderSettler(window)
  const work = async () => {
    for (const [index, source] of pending) {
      settler.done(index, { source, outcome: await outcomeOf(window, transform, limits, source) })
      if (time.isTimeToGiveWay()) await time.giveWay()
    }
  }
  const workers = Array.from({ length: Math.min(limits.concurrency, records.length) }, work)
  try {
    await Promise.all(workers)
  } catch (error) {
    time.giveUp(error)
    await Promise.allSettled(workers) // none may touch the sink once the window is over
    throw error
  }
}

async function outcomeOf(
  window: TransformWindow,
  transform: UserFunction,
  limits: ConcurrencyLimits,
  source: KafkaRecord,
): Promise<TransformOutcome> {
  const rejection = knownRejection(window, source)
  if (rejection) return rejection
  try {
    const record = decodeRecord(source, window.plan.source)
    return await callWithAttempts(
      (call, signal) => transform(record, contextOf(window, source, call, signal)),
      limits,
      window,
    )
  } catch (error) {
    return rejectionOf(error, source)
  }
}

interface DoneCall {
  readonly source: KafkaRecord
  readonly outcome: TransformOutcome
}

/** Holds outcomes back until those of all earlier records are there. */
class InOrderSettler {
  readonly #window: TransformWindow
  readonly #waiting = new Map<number, DoneCall>()
  #next = 0

  constructor(window: TransformWindow) {
    this.#window = window
  }

  done(index: number, call: DoneCall): void {
    this.#waiting.set(index, call)
    for (let ready = this.#waiting.get(this.#next); ready; ready = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next++)
      this.#window.results.settle(ready.source, ready.outcome)
    }
  }
}
