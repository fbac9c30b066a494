import type { CompiledRelay } from '../../lib/relay/compiled-relay.ts'
import type { Dice } from './dice.ts'
import type { Plan } from './plan.ts'

/** What the relay of a run promises, and where it takes its records from. */
export type PromisePlan = Pick<CompiledRelay, 'guarantee' | 'read'>

export const strongest: PromisePlan = { guarantee: 'exactly-once', read: 'log' }

/** So few runs promise less or read events: what seeds are to find is what breaks the strongest promise. */
const share = 0.12

/**
 * Exactly once out of events is what `defineRelay` refuses, because an event does not show what was aborted; where nothing
 * is, the reader of events has to stand the whole judge.
 */
const others: readonly PromisePlan[] = [
  { guarantee: 'exactly-once', read: 'event' },
  { guarantee: 'at-least-once', read: 'log' },
  { guarantee: 'at-least-once', read: 'event' },
  { guarantee: 'none', read: 'log' },
  { guarantee: 'none', read: 'event' },
]

export const promiseOf = (dice: Dice): PromisePlan => (dice.chance(share) ? dice.pick(others) : strongest)

/** Events are for sources without transactions, and cannot tell a topic that was made anew (P13): neither is asked of them. */
export function suited(plan: Plan): Plan {
  if (plan.promise.read === 'log') return plan
  return {
    ...plan,
    source: { ...plan.source, transactional: 0 },
    provocation: plan.provocation === 'topic-recreated' ? 'none' : plan.provocation,
  }
}

export const promiseName = ({ guarantee, read }: PromisePlan): string =>
  read === 'log' ? guarantee : `${guarantee}, read: ${read}`
