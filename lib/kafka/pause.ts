import type { Clock, Deadline, Random } from '../clock.ts'

const PAUSE_MS = 100

/** Waits 50 to 150 ms before something is asked again; throws `reason` instead when that does not fit before the deadline. */
export async function pause(clock: Clock, random: Random, deadline: Deadline, reason: Error): Promise<void> {
  const ms = PAUSE_MS * (0.5 + random.fraction())
  if (deadline.remainingMs() <= ms) throw reason
  await clock.sleep(ms)
}
