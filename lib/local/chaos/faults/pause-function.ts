import { type Fault, pause } from '../fault.ts'
import { type FunctionsAtWork, shortId } from '../functions-at-work.ts'

const takeOverMs = 8_000
const lookEveryMs = 100
const victimsMax = 3

/**
 * SIGSTOP to a container in the middle of its work until another one has taken its lane, then SIGCONT: it goes on where it
 * was, believing that it still holds the lane.
 */
export const pauseFunction = (functions: FunctionsAtWork): Fault => ({
  name: 'pause-function',
  strikes: 'pause-function',
  async fire(signal) {
    for (let victims = 0; victims < victimsMax && !signal.aborted; ) {
      const victim = await functions.victim(signal)
      if (victim === null) return null
      functions.host.kill(victim, 'SIGSTOP')
      try {
        const held = await lanesHeldBy(victim, functions)
        if (held.size > 0) victims++ // else it had released them when the signal came
        const lane = await firstTaken(held, functions, signal)
        if (lane !== null) return `container ${shortId(victim)}, thawed after lane ${lane} was taken over`
      } finally {
        functions.host.kill(victim, 'SIGCONT')
      }
    }
    return null
  },
})

type Tokens = ReadonlyMap<string, number>

async function lanesHeldBy(victim: string, functions: FunctionsAtWork): Promise<Tokens> {
  const held = [...(await functions.lanes())].filter(([, { container }]) => container === victim)
  return new Map(held.map(([lane, { token }]) => [lane, token]))
}

async function firstTaken(held: Tokens, functions: FunctionsAtWork, signal: AbortSignal): Promise<string | null> {
  const { clock } = functions
  for (const beganMs = clock.now(); held.size > 0 && clock.now() - beganMs < takeOverMs && !signal.aborted; ) {
    const now = await functions.lanes()
    const taken = [...held].find(([lane, token]) => (now.get(lane)?.token ?? 0) > token)
    if (taken) return taken[0]
    await pause(clock, lookEveryMs, signal)
  }
  return null
}
