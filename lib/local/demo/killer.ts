import type { Clock, Random } from '../../clock.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { LambdaHost } from '../lambda-host/lambda-host.ts'

export interface KillerParts {
  readonly host: LambdaHost
  /** On average; 0: none. */
  readonly perMinute: number
  /** Ids of the containers that hold a lane at this moment, dead ones included. */
  readonly holders: () => Promise<readonly string[]>
  readonly clock: Clock
  readonly random: Random
}

const lookEveryMs = 10
/** From the moment that a victim is found; drawn anew each time, so that all steps of its work are hit. */
const aimMsMax = 100

/** Kills containers with SIGKILL while they hold a lane: in the middle of a window, before it or after it. */
export class Killer {
  readonly #its: KillerParts
  readonly #aimedAt = new Set<string>()
  #fired = 0

  constructor(parts: KillerParts) {
    this.#its = parts
  }

  /** Kills that hit: the invocation ended by the signal. One that came after the answer is not counted. */
  get fired(): number {
    return this.#fired
  }

  /** Hears how each invocation ended. */
  note(result: InvokeResult): void {
    if (result.status !== 'error' || !this.#aimedAt.delete(result.containerId)) return
    if (result.payload.errorType === 'Runtime.ExitError') this.#fired++
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { perMinute, random, host } = this.#its
    while (perMinute > 0 && !signal.aborted) {
      await this.#pause((60_000 / perMinute) * (0.5 + random.fraction()), signal)
      const victim = await this.#findVictim(signal)
      if (victim === null) return
      this.#aimedAt.add(victim)
      host.kill(victim, 'SIGKILL')
    }
  }

  async #findVictim(signal: AbortSignal): Promise<string | null> {
    const { random } = this.#its
    while (!signal.aborted) {
      const working = await this.#working()
      const victim = working[Math.floor(random.fraction() * working.length)]
      await this.#pause(victim === undefined ? lookEveryMs : random.fraction() * aimMsMax, signal)
      if (victim !== undefined && (await this.#working()).includes(victim)) return victim
    }
    return null
  }

  /** Those that hold a lane and are alive. */
  async #working(): Promise<readonly string[]> {
    const busy = this.#its.host.containers().filter(({ state }) => state === 'busy')
    const ids = new Set(busy.map(({ id }) => id))
    return (await this.#its.holders()).filter((container) => ids.has(container))
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#its.clock.sleep(ms, signal).catch(() => undefined)
  }
}
