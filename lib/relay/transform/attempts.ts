import type { Clock } from '../../clock.ts'
import { isRelayError, RelayError } from '../../errors.ts'
import { TransformCall } from './call.ts'
import { startTimeLimit, within } from './time-limit.ts'

const FIRST_PAUSE_MS = 100
const PAUSE_MS_MAX = 5_000

export interface AttemptLimits {
  readonly timeoutMs: number
  /** Further calls after the first. */
  readonly retries: number
}

export interface AttemptContext {
  readonly clock: Clock
  /** Its signal is aborted when the whole window has no time left, or is given up. */
  readonly time: { readonly signal: AbortSignal }
  readonly onLateEmit: (error: RelayError) => void
}

/** Starts the user's transform; its emits go to `call`. */
export type StartCall = (call: TransformCall, signal: AbortSignal) => unknown

/**
 * Calls an async transform until it is done, has failed too often or the window's time is up. Each attempt has its own
 * signal and collects its own emits.
 * @throws whatever the last attempt threw; RelayError TRANSFORM_TIMED_OUT
 */
export async function callWithAttempts(
  start: StartCall,
  limits: AttemptLimits,
  context: AttemptContext,
): Promise<TransformCall> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await callOnce(start, limits.timeoutMs, context)
    } catch (error) {
      if (attempt >= limits.retries || !mayPassLater(error)) throw error
      await context.clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** attempt, PAUSE_MS_MAX), context.time.signal)
    }
  }
}

async function callOnce(start: StartCall, timeoutMs: number, context: AttemptContext): Promise<TransformCall> {
  context.time.signal.throwIfAborted()
  const limit = startTimeLimit(context.clock, timeoutMs, () => callTimedOut(timeoutMs), context.time.signal)
  const call = new TransformCall(context.onLateEmit)
  try {
    await within(limit.signal, Promise.resolve(start(call, limit.signal)))
    return call.finish()
  } catch (error) {
    call.giveUp()
    throw error
  } finally {
    limit.end()
  }
}

/** Our own errors are verdicts; only a time-out and what the user's code threw may be different the next time. */
const mayPassLater = (error: unknown): boolean => !isRelayError(error) || error.code === 'TRANSFORM_TIMED_OUT'

const callTimedOut = (timeoutMs: number): RelayError =>
  new RelayError(
    'TRANSFORM_TIMED_OUT',
    `a call of the transform took longer than async.timeoutMs (${timeoutMs}); raise it, or make the service answer sooner`,
  )
