import type { Clock } from '../../clock.ts'
import type { RelayError } from '../../errors.ts'

/** A signal that is aborted after some time, or when its parent is (which it must not be yet). Call `end` when the work is done: it ends the timer. */
export interface TimeLimit {
  readonly signal: AbortSignal
  end(): void
}

export function startTimeLimit(clock: Clock, ms: number, late: () => RelayError, parent?: AbortSignal): TimeLimit {
  const limit = new AbortController()
  const ended = new AbortController()
  const followParent = () => limit.abort(parent?.reason)
  parent?.addEventListener('abort', followParent, { once: true })
  clock.sleep(ms, ended.signal).then(
    () => limit.abort(late()),
    () => undefined,
  )
  return {
    signal: limit.signal,
    end: () => {
      parent?.removeEventListener('abort', followParent)
      ended.abort()
    },
  }
}

/**
 * What `work` comes to, or the signal's reason as soon as it is aborted. Work that ignores its signal is left behind:
 * nothing that it comes to later is looked at.
 */
export function within<Value>(signal: AbortSignal, work: PromiseLike<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const stopListening = () => signal.removeEventListener('abort', onAbort)
    Promise.resolve(work).finally(stopListening).then(resolve, reject)
  })
}
