import type { Fault } from '../fault.ts'
import { type FunctionsAtWork, shortId } from '../functions-at-work.ts'

/** A process that is killed is gone at once; only the news takes time. */
const deathMsMax = 5_000

/** SIGKILL to a container in the middle of its work. It hit when the invocation ended by it; else another one is looked for. */
export const killFunction = (functions: FunctionsAtWork): Fault => ({
  name: 'kill-function',
  strikes: 'kill-function',
  async fire(signal) {
    for (;;) {
      const victim = await functions.victim(signal)
      if (victim === null) return null
      const end = functions.endOf(victim, deathMsMax)
      functions.host.kill(victim, 'SIGKILL')
      const result = await end
      if (result?.status === 'error' && result.payload.errorType === 'Runtime.ExitError') {
        return `container ${shortId(victim)}, at work`
      }
    }
  },
})
