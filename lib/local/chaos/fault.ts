import type { Clock } from '../../clock.ts'

/** One kind of harm. A file each; what it does to whom is told by `hit`, so that a fault that struck nothing is seen. */
export interface Fault {
  readonly name: string
  /** Of those that strike the same thing, one at a time: two of three brokers must not be away at once. */
  readonly strikes: string
  /**
   * Injects, waits until something was hit, heals. Whatever becomes of it, nothing of it is left when it settles.
   * Answers what it hit; null when it found nothing to hit or was aborted.
   */
  fire(signal: AbortSignal): Promise<string | null>
}

export interface Span {
  /** How long a fault stays after its first hit. */
  readonly lastsMs: number
  /** How long it waits for that. */
  readonly patienceMs: number
}

const lookEveryMs = 50

/** Resolves when the fault has hit and lasted, when patience is at its end, or when aborted. Answers whether it hit. */
export async function untilHit(clock: Clock, span: Span, hits: () => number, signal: AbortSignal): Promise<boolean> {
  const beganMs = clock.now()
  while (hits() === 0 && clock.now() - beganMs < span.patienceMs && !signal.aborted) {
    await pause(clock, lookEveryMs, signal)
  }
  if (hits() === 0) return false
  await pause(clock, span.lastsMs, signal)
  return true
}

/** A sleep that an abort ends quietly. */
export const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  clock.sleep(ms, signal).catch(() => undefined)
