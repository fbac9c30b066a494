import { type Clock, systemClock } from '../clock.ts'

interface Sleeper {
  readonly dueMs: number
  readonly wake: () => void
}

export interface RunOptions {
  /** While it answers true something real is being waited for: virtual time then follows real time instead of leaping. */
  readonly isBusy?: () => boolean
}

/** Event-loop turns given to code that yields by turns (`setImmediate`) before the next sleeper is woken. */
const turnsPerStep = 2
/** Real milliseconds granted to real work (loading a module, inflating) before `run` calls a standstill. */
const standstillMs = 2_000

/**
 * A clock whose time moves only when it is told to. Sleepers wake in the order of their due times, those of one
 * moment in the order in which they went to sleep, and everything that one of them sets in motion runs before the
 * next is woken: the same calls give the same order, every time. Like real clocks it counts whole milliseconds.
 */
export class VirtualClock implements Clock {
  private nowMs: number
  private readonly sleepers: Sleeper[] = []

  /** `startMs`: milliseconds since the epoch; the default is a day without any meaning, the same in every run. */
  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.nowMs = startMs
  }

  now(): number {
    return this.nowMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const sleeper: Sleeper = {
        dueMs: this.nowMs + Math.max(0, Math.ceil(ms)),
        wake: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      const onAbort = () => {
        this.forget(sleeper)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.insert(sleeper)
    })
  }

  get sleeping(): number {
    return this.sleepers.length
  }

  /** When the next sleeper is due; null when nobody sleeps. */
  get nextWakeMs(): number | null {
    return this.sleepers[0]?.dueMs ?? null
  }

  /** Moves time on by `ms` and wakes whoever is due on the way, each at its own moment. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + Math.round(ms)
    await settle()
    for (let next = this.nextWakeMs; next !== null && next <= untilMs; next = this.nextWakeMs) await this.wakeNext()
    this.nowMs = Math.max(this.nowMs, untilMs)
  }

  /** Leaps to the next sleeper and wakes it. False when nobody sleeps. */
  async wakeNext(): Promise<boolean> {
    const sleeper = this.sleepers.shift()
    if (sleeper === undefined) return false
    this.nowMs = Math.max(this.nowMs, sleeper.dueMs)
    sleeper.wake()
    await settle()
    return true
  }

  /**
   * Lets `work` finish, leaping from sleeper to sleeper as long as it waits for one.
   * @throws Error when it waits for something that nobody will ever do.
   */
  async run<T>(work: Promise<T>, { isBusy = () => false }: RunOptions = {}): Promise<T> {
    let done = false
    const finish = () => {
      done = true
    }
    work.then(finish, finish)
    let idleMs = 0
    for (await settle(); !done; await settle()) {
      if (isBusy()) await this.followRealTime()
      else if (await this.wakeNext()) idleMs = 0
      else if (idleMs++ < standstillMs) await systemClock.sleep(1)
      else throw new Error('standstill: nobody sleeps, and what is awaited has not happened')
    }
    return work
  }

  private async followRealTime(): Promise<void> {
    const startedMs = systemClock.now()
    await systemClock.sleep(1)
    await this.advance(Math.max(1, systemClock.now() - startedMs))
  }

  private insert(sleeper: Sleeper): void {
    const after = this.sleepers.findIndex((other) => other.dueMs > sleeper.dueMs)
    this.sleepers.splice(after === -1 ? this.sleepers.length : after, 0, sleeper)
  }

  private forget(sleeper: Sleeper): void {
    const index = this.sleepers.indexOf(sleeper)
    if (index !== -1) this.sleepers.splice(index, 1)
  }
}

/** Resolves when every promise that can go on without time has gone on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < turnsPerStep; turn++) await new Promise((resolve) => setImmediate(resolve))
}
