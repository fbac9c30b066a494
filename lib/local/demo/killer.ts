import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import { WorkingContainers, type WorkingContainersParts } from '../working-containers.ts'

export interface KillerParts extends WorkingContainersParts {
  /** On average; 0: none. */
  readonly perMinute: number
}

/** Kills containers with SIGKILL while they hold a lane: in the middle of a window, before it or after it. */
export class Killer {
  readonly #its: KillerParts
  readonly #working: WorkingContainers
  readonly #aimedAt = new Set<string>()
  #fired = 0

  constructor(parts: KillerParts) {
    this.#its = parts
    this.#working = new WorkingContainers(parts)
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
    const { perMinute, random, host, clock } = this.#its
    while (perMinute > 0 && !signal.aborted) {
      await clock.sleep((60_000 / perMinute) * (0.5 + random.fraction()), signal).catch(() => undefined)
      const victim = await this.#working.find(signal)
      if (victim === null) return
      this.#aimedAt.add(victim)
      host.kill(victim, 'SIGKILL')
    }
  }
}
