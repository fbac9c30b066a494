import { RelayError } from './errors.ts'

/** A broken invariant ends the lane's work without a commit: aborting costs work, committing could cost data. */
export function invariant(condition: unknown, what: string, facts: Record<string, unknown> = {}): asserts condition {
  if (!condition) throw new RelayError('INVARIANT_BROKEN', what, { context: facts })
}

/** For the `default` of a switch over a closed union: a compile error when a case is missing. */
export function unreachable(value: never): never {
  throw new RelayError('INVARIANT_BROKEN', `unexpected value ${JSON.stringify(value)}`)
}
