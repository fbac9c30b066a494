import { type ErrorCode, isRelayError } from '../errors.ts'

/** Of several failures at once, the one that tells the owner most: what must not be done comes before what may. */
const order: readonly ErrorCode[] = [
  'INVARIANT_BROKEN',
  'SESSION_FENCED',
  'RECORD_TOO_LARGE',
  'RECORD_INVALID',
  'NOT_AUTHORIZED',
  'TOPIC_MISSING',
]

function rank(error: unknown): number {
  if (!isRelayError(error)) return -1
  const index = order.indexOf(error.code)
  return index === -1 ? order.length : index
}

export const graver = (one: unknown, other: unknown): unknown =>
  one === undefined || rank(other) < rank(one) ? other : one

/** Waits for all, even when one fails, and then throws the gravest failure: nothing is left on its way behind an error. */
export async function allSettled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work)
  const failures = results.filter((result) => result.status === 'rejected').map((result) => result.reason)
  if (failures.length > 0) throw failures.reduce(graver)
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
