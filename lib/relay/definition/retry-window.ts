import { RelayError } from '../../errors.ts'

/**
 * Throw it from a transform when the fault is not the record's, such as a service that is down: nothing is dead-lettered,
 * and the window is tried again at the next ring.
 *
 * ```ts
 * if (response.status >= 500) throw retryWindow('the scoring service is down')
 * ```
 */
export const retryWindow = (reason: string, cause?: unknown): RelayError =>
  new RelayError('TRANSFORM_RETRY', reason, { cause })
