import type { Clock, Deadline } from '../clock.ts'
import type { RelayError } from '../errors.ts'

/** What one round found out about one ask. `again`: the result is an error that another round may heal. */
export interface Told<Ask, Answer> {
  readonly ask: Ask
  readonly result: Answer | RelayError
  readonly again: boolean
}

const pauseFirstMs = 20
const pauseMaxMs = 1000

/**
 * Reads in rounds until every ask has its result, each apart from the others: a round carries only what is still open.
 * Between rounds it pauses, longer each time; when no time is left for that, an open ask keeps its last error.
 */
export async function inRounds<Ask, Answer>(
  clock: Clock,
  asks: readonly Ask[],
  round: (open: readonly Ask[], number: number) => Promise<readonly Told<Ask, Answer>[]>,
  deadline: Deadline,
): Promise<ReadonlyMap<Ask, Answer | RelayError>> {
  const results = new Map<Ask, Answer | RelayError>()
  let open = asks
  for (let number = 0; open.length > 0; number++) {
    const told = await round(open, number)
    for (const { ask, result } of told) results.set(ask, result)
    open = told.filter(({ again }) => again).map(({ ask }) => ask)
    const pauseMs = Math.min(pauseFirstMs * 2 ** number, pauseMaxMs)
    if (open.length === 0 || deadline.remainingMs() <= pauseMs) break
    await clock.sleep(pauseMs)
  }
  return results
}
