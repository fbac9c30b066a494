import type { Clock, Random } from '../clock.ts'
import type { LambdaHost } from './lambda-host/lambda-host.ts'

export interface WorkingContainersParts {
  readonly host: LambdaHost
  /** Ids of the containers that hold a lane at this moment, dead ones included. */
  readonly holders: () => Promise<readonly string[]>
  readonly clock: Clock
  readonly random: Random
}

const lookEveryMs = 10
/** From the moment that a victim is found; drawn anew each time, so that all steps of its work are hit. */
const aimMsMax = 100

/** Finds containers in the middle of their work, for whoever harms them: busy, alive and holding a lane. */
export class WorkingContainers {
  readonly #its: WorkingContainersParts

  constructor(parts: WorkingContainersParts) {
    this.#its = parts
  }

  /** One of them, a random moment after it was found at work; null when aborted first. */
  async find(signal: AbortSignal): Promise<string | null> {
    const { random } = this.#its
    while (!signal.aborted) {
      const working = await this.#working()
      const victim = working[Math.floor(random.fraction() * working.length)]
      await this.#pause(victim === undefined ? lookEveryMs : random.fraction() * aimMsMax, signal)
      if (victim !== undefined && (await this.#working()).includes(victim)) return victim
    }
    return null
  }

  async #working(): Promise<readonly string[]> {
    const busy = this.#its.host.containers().filter(({ state }) => state === 'busy')
    const ids = new Set(busy.map(({ id }) => id))
    // A fence table that is silent for a moment tells of nobody; the next look may.
    const holders = await this.#its.holders().catch(() => [])
    return holders.filter((container) => ids.has(container))
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#its.clock.sleep(ms, signal).catch(() => undefined)
  }
}
