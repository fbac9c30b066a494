import type { Clock, Deadline, Random } from '../clock.ts'

const FIRST_MS = 2
const GROWTH = 1.8
const LONGEST_MS = 100

/** Sleeps before the next attempt; false, without sleeping, when no time would be left for it. */
export type Pause = (deadline: Deadline) => Promise<boolean>

/**
 * Growing, jittered pauses between attempts: 1-2 ms at first (markers of the last transaction are written in less than
 * that on a quiet broker), 50-100 ms at last.
 */
export function pauses(clock: Clock, random: Random): Pause {
  let longestMs = FIRST_MS
  return async (deadline) => {
    const ms = longestMs * (0.5 + random.fraction() / 2)
    longestMs = Math.min(longestMs * GROWTH, LONGEST_MS)
    if (deadline.remainingMs() <= ms) return false
    await clock.sleep(ms)
    return true
  }
}
