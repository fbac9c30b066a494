import { type Clock, deadlineIn } from '../clock.ts'
import { type FenceHandle, superseded } from './fence-handle.ts'

export interface Renewal {
  /** Aborted, with FENCE_SUPERSEDED as reason, once another owner is known to hold the lane. A silent store does not abort it (R7). */
  readonly lost: AbortSignal
  /** After it resolves no renewal is sent any more: to be awaited before the release and before the invocation ends (R14). */
  stop(): Promise<void>
}

/** Prolongs the lease every `everyMs` (default 2000) while work goes on. Shorter work costs no renewal at all. */
export function keepRenewed(handle: FenceHandle, clock: Clock, everyMs = 2000): Renewal {
  const lost = new AbortController()
  const stopping = new AbortController()
  const finished = renewUntil(stopping.signal).catch((error) => lost.abort(error))

  async function renewUntil(stop: AbortSignal): Promise<void> {
    while (await sleptUntilDue(clock, everyMs, stop)) {
      const { kind } = await handle.renew(deadlineIn(clock, everyMs / 2))
      if (kind === 'superseded') throw superseded(handle.record)
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await finished
  }

  return { lost: lost.signal, stop }
}

/** False when stopped in the meantime. */
function sleptUntilDue(clock: Clock, ms: number, stop: AbortSignal): Promise<boolean> {
  return clock.sleep(ms, stop).then(
    () => !stop.aborted,
    () => false,
  )
}
