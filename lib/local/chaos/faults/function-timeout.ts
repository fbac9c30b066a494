import type { Fault } from '../fault.ts'
import { type FunctionsAtWork, shortId } from '../functions-at-work.ts'

const newsMs = 3_000

/** A container that stands still in the middle of its work until Lambda kills it at its time limit. */
export const functionTimeout = (functions: FunctionsAtWork, timeoutMs: number): Fault => ({
  name: 'function-timeout',
  strikes: 'function-timeout',
  async fire(signal) {
    for (;;) {
      const victim = await functions.victim(signal)
      if (victim === null) return null
      const end = functions.endOf(victim, timeoutMs + newsMs)
      functions.host.kill(victim, 'SIGSTOP')
      const result = await end
      if (result?.status === 'error' && result.payload.errorType === 'Sandbox.Timedout') {
        return `container ${shortId(victim)}, killed at its time limit`
      }
    }
  },
})
