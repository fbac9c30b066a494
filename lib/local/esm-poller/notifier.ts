import type { Clock } from '../../clock.ts'

/** Something has changed: whoever looked at `version` before will not sleep through it. */
export class Notifier {
  version = 0
  #wake = Promise.withResolvers<void>()

  notify(): void {
    this.version++
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }

  /** Resolves when there is a version after `seen`, after `ms`, or when aborted; never rejects. */
  async after(seen: number, ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (this.version !== seen || signal.aborted) return
    const awake = new AbortController()
    const either = AbortSignal.any([awake.signal, signal])
    await Promise.race([this.#wake.promise, clock.sleep(ms, either).catch(() => undefined)])
    awake.abort()
  }
}
