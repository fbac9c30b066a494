import type { Clock, Random } from '../../clock.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { LambdaHost } from '../lambda-host/lambda-host.ts'

const lookEveryMs = 3
/** Whoever has been busy for longer most likely waits for the lease of a container that was killed before. */
const youngMs = 150
/** From the start of an invocation to the kill; drawn anew each time, so that all of its steps are hit. */
const aimMsMax = 30

/** Kills containers with SIGKILL while they work, `perMinute` on average, until stopped. */
export class Killer {
  readonly #host: LambdaHost
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #random: Random
  readonly #aimedAt = new Set<string>()
  #fired = 0

  constructor(host: LambdaHost, perMinute: number, clock: Clock, random: Random) {
    this.#host = host
    this.#perMinute = perMinute
    this.#clock = clock
    this.#random = random
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

  async run(signal: AbortSignal): Promise<void> {
    while (this.#perMinute > 0 && !signal.aborted) {
      const pauseMs = (60_000 / this.#perMinute) * (0.5 + this.#random.fraction())
      const victim = await this.#pause(pauseMs, signal).then(() => this.#findVictim(signal))
      if (victim === null) return
      this.#aimedAt.add(victim)
      this.#host.kill(victim, 'SIGKILL')
    }
  }

  async #findVictim(signal: AbortSignal): Promise<string | null> {
    const aimMs = this.#random.fraction() * aimMsMax
    while (!signal.aborted) {
      const isRipe = (busyForMs: number) => busyForMs >= aimMs && busyForMs <= youngMs
      const ripe = this.#host.containers().filter(({ busyForMs }) => busyForMs !== null && isRipe(busyForMs))
      const victim = ripe[Math.floor(this.#random.fraction() * ripe.length)]
      if (victim) return victim.id
      await this.#pause(lookEveryMs, signal)
    }
    return null
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal).catch(() => undefined)
  }
}
