import type { Clock } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { TransformOptions } from '../compiled-relay.ts'
import { startTimeLimit, type TimeLimit, within } from './time-limit.ts'

/** Work after which other things of the process, lease renewals above all, get their turn. */
const WORK_MS_MAX = 10
/** Records that pass between two looks at the clock while they are quick: looking costs more than some transforms. */
const UNWATCHED_MAX = 8
const QUICK_MS = 1

/**
 * The time of one window: a signal that is aborted when it is over, and a question to ask after each record, so that a
 * long window gives way every few milliseconds and is given up in time although no timer could run meanwhile.
 */
export class TransformTime {
  readonly #clock: Clock
  readonly #options: Pick<TransformOptions, 'deadline' | 'yieldNow'>
  readonly #over = new AbortController()
  readonly signal: AbortSignal = this.#over.signal
  #timer: TimeLimit | undefined
  #workingSinceMs: number
  #lookedAtMs: number
  #unwatched = 0

  constructor(clock: Clock, options: Pick<TransformOptions, 'deadline' | 'yieldNow'>) {
    this.#clock = clock
    this.#options = options
    this.#workingSinceMs = clock.now()
    this.#lookedAtMs = this.#workingSinceMs
  }

  /** Needed as soon as something is awaited; a window that never waits costs no timer. */
  startTimer(): void {
    if (this.#timer) return
    this.#timer = startTimeLimit(this.#clock, Math.max(0, this.#options.deadline.remainingMs()), windowTimedOut)
    this.#timer.signal.addEventListener('abort', () => this.giveUp(windowTimedOut()), { once: true })
  }

  /** @throws RelayError TRANSFORM_TIMED_OUT as soon as the time is over, whatever the work does */
  wait<Value>(work: PromiseLike<Value>): Promise<Value> {
    this.startTimer()
    return within(this.signal, work)
  }

  /** To be asked after each record. */
  isTimeToGiveWay(): boolean {
    if (this.#unwatched > 0) {
      this.#unwatched--
      return false
    }
    const nowMs = this.#clock.now()
    this.#unwatched = nowMs - this.#lookedAtMs <= QUICK_MS ? UNWATCHED_MAX : 0
    this.#lookedAtMs = nowMs
    const workedMs = nowMs - this.#workingSinceMs
    return workedMs >= WORK_MS_MAX || workedMs < 0 // below 0: the clock was set back
  }

  /** @throws RelayError TRANSFORM_TIMED_OUT */
  async giveWay(): Promise<void> {
    await this.#options.yieldNow()
    this.assertNotOver()
    this.#workingSinceMs = this.#clock.now()
  }

  /** @throws RelayError TRANSFORM_TIMED_OUT */
  assertNotOver(): void {
    if (this.#options.deadline.remainingMs() <= 0) this.giveUp(windowTimedOut())
    this.signal.throwIfAborted()
  }

  /** Tells every call that still runs that nothing will come of this window. */
  giveUp(reason: unknown): void {
    this.#over.abort(reason)
  }

  end(): void {
    this.#timer?.end()
  }
}

const windowTimedOut = (): RelayError =>
  new RelayError(
    'TRANSFORM_TIMED_OUT',
    'the transform of the window was not done when its time was up; lower window.records, raise async.concurrency or window.ms',
  )
