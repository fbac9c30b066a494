import type { Clock } from '../../clock.ts'
import { messageOf } from '../../errors.ts'
import type { FenceStop } from '../../fencing/fence-record.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import { isWorthALine, nothingYet, tallyLine, withResult } from './tally.ts'

export interface NewsParts {
  /** A schedule that finds nothing to do is no news, an event that does is. */
  readonly quietWhenIdle: boolean
  readonly clock: Clock
  /** Why the lane is stopped; null when it is not any more. @throws RelayError as a fence store does */
  stopOf(transactionalId: string): Promise<FenceStop | null>
  logOf(containerId: string): string
  say(line: string): void
}

const lineEveryMs = 1_000

/** What a relay's functions do, as lines for a person: at most one a second, and each stop of a lane once. */
export class RelayNews {
  readonly #its: NewsParts
  readonly #toldStops = new Map<string, number>()
  #tally = nothingYet
  #telling: Promise<void> | null = null
  #toldAtMs = Number.NEGATIVE_INFINITY
  #toldFailure = ''
  readonly #over = new AbortController()

  constructor(parts: NewsParts) {
    this.#its = parts
  }

  note(result: InvokeResult): void {
    this.#tally = withResult(this.#tally, result)
    if (this.#hasNews()) this.#telling ??= this.#tellAll()
    else this.#tally = nothingYet
  }

  /** What has not been told yet is told now; no line comes after it. */
  async end(): Promise<void> {
    this.#over.abort()
    await this.#telling
  }

  #hasNews(): boolean {
    return this.#tally.stopped.size > 0 || isWorthALine(this.#tally, this.#its.quietWhenIdle)
  }

  async #tellAll(): Promise<void> {
    const { clock } = this.#its
    while (this.#hasNews()) {
      const waitMs = this.#toldAtMs + lineEveryMs - clock.now()
      if (waitMs > 0) await clock.sleep(waitMs, this.#over.signal).catch(() => undefined)
      this.#toldAtMs = clock.now()
      await this.#tell()
    }
    this.#telling = null
  }

  async #tell(): Promise<void> {
    const { say, logOf, quietWhenIdle } = this.#its
    const tally = this.#tally
    this.#tally = nothingYet
    const { failure } = tally
    if (isWorthALine(tally, quietWhenIdle)) say(`${tallyLine(tally)}${failure ? `: ${failure.message}` : ''}`)
    if (failure?.containerId && failure.message !== this.#toldFailure) say(`  log: ${logOf(failure.containerId)}`)
    this.#toldFailure = failure?.message ?? this.#toldFailure
    for (const lane of tally.stopped) await this.#tellStop(lane)
  }

  async #tellStop(lane: string): Promise<void> {
    const { stopOf, say } = this.#its
    try {
      const stop = await stopOf(lane)
      if (stop === null || this.#toldStops.get(lane) === stop.atMs) return
      this.#toldStops.set(lane, stop.atMs)
      say(`lane ${lane} has stopped: ${stop.message}`)
    } catch (error) {
      say(`lane ${lane} has stopped; why cannot be read: ${messageOf(error)}`)
    }
  }
}
