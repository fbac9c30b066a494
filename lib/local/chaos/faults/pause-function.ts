import { type Fault, pause } from '../fault.ts'
import { type FunctionsAtWork, shortId } from '../functions-at-work.ts'

const takeOverMs = 8_000
const lookEveryMs = 100

/**
 * SIGSTOP to a container in the middle of its work until another one has taken its lane, then SIGCONT: it goes on where it
 * was, believing that it still holds the lane.
 */
export const pauseFunction = (functions: FunctionsAtWork): Fault => ({
  name: 'pause-function',
  strikes: 'pause-function',
  async fire(signal) {
    const victim = await functions.victim(signal)
    if (victim === null) return null
    functions.host.kill(victim, 'SIGSTOP')
    try {
      const lane = await laneTakenFrom(victim, functions, signal)
      return lane === null ? null : `container ${shortId(victim)}, thawed after lane ${lane} was taken over`
    } finally {
      functions.host.kill(victim, 'SIGCONT')
    }
  },
})

async function laneTakenFrom(victim: string, functions: FunctionsAtWork, signal: AbortSignal): Promise<string | null> {
  const { clock } = functions
  const before = [...(await functions.lanes())].filter(([, { container }]) => container === victim)
  for (const beganMs = clock.now(); clock.now() - beganMs < takeOverMs && !signal.aborted; ) {
    const now = await functions.lanes()
    const taken = before.find(([lane, { token }]) => (now.get(lane)?.token ?? 0) > token)
    if (taken) return taken[0]
    await pause(clock, lookEveryMs, signal)
  }
  return null
}
