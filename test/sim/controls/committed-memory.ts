import type { Answer } from '../../../lib/kafka/cluster.ts'
import { type Call, type Interceptor, isCall } from './intercept.ts'

type OffsetFetch = Call<'OffsetFetch'>

/** Which partitions an OffsetFetch asks for. */
export const askedFor = ({ body }: OffsetFetch): string =>
  body.groups.flatMap(({ topics }) => topics?.flatMap(({ partitionIndexes }) => partitionIndexes) ?? []).join()

/** The question of step 9, or of its like: to one broker, pending offsets left aside. */
export const isStepNine = ({ target, body }: OffsetFetch): boolean =>
  target.to === 'node' && body.requireStable !== true

/** Steps 0 and 3. */
export const isReading = ({ target, body }: OffsetFetch): boolean =>
  target.to === 'group-coordinator' && body.requireStable === true

/** Answers step 9 with what was read last: a relay that does not ask. */
export function withoutStepNine(): Interceptor {
  const read = new Map<string, Answer<'OffsetFetch'>>()
  return async (call, send) => {
    if (!isCall(call, 'OffsetFetch')) return send(call)
    const known = read.get(askedFor(call))
    if (isStepNine(call) && known !== undefined) return known
    const answer = await send<'OffsetFetch'>(call)
    if (isReading(call)) read.set(askedFor(call), answer)
    return answer
  }
}
