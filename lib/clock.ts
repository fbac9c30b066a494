/**
 * Time, waiting and chance come in as arguments, so that the simulation and `testRelay` can own them.
 * Nothing below `functions/` reads `Date.now`, calls `setTimeout` or draws a random number itself.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. May jump (a frozen container, a corrected clock): no safety rule may depend on it. */
  now(): number
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Random {
  /** An id unique for ever (UUID v4 or better). */
  id(): string
  /** Uniform in [0, 1): for jitter only. */
  fraction(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

export const systemRandom: Random = {
  id: () => crypto.randomUUID(),
  fraction: () => Math.random(),
}

/** The moment by which something must be done. Passed down instead of durations, so that steps share one budget. */
export interface Deadline {
  readonly atMs: number
  remainingMs(): number
}

export function deadlineAt(clock: Clock, atMs: number): Deadline {
  return { atMs, remainingMs: () => atMs - clock.now() }
}

export const deadlineIn = (clock: Clock, ms: number): Deadline => deadlineAt(clock, clock.now() + ms)

/** The earlier of a deadline and `ms` from now. */
export const sooner = (clock: Clock, deadline: Deadline, ms: number): Deadline =>
  deadlineAt(clock, Math.min(deadline.atMs, clock.now() + ms))
