import { type Clock, systemClock } from '../../lib/clock.ts'

/** The system's clock, which jumps when told to: a function runs out of time at exactly the place that a test means. */
export interface HastyClock extends Clock {
  skip(ms: number): void
}

export function hastyClock(): HastyClock {
  let skippedMs = 0
  return {
    now: () => systemClock.now() + skippedMs,
    sleep: systemClock.sleep,
    skip(ms) {
      skippedMs += ms
    },
  }
}
