import { classify } from '../kafka/errors.ts'

/**
 * What the earlier transmissions of one EndTxn(commit) may have done.
 * - none: there was none, or no byte of it can have left, or the coordinator refused it unread (14)
 * - perhaps: one was never answered, or answered with something that does not exclude that PrepareCommit was logged:
 *   15 and 16 can come after it (TransactionCoordinator.endTransaction), 51 says that it may be under way
 */
export type Earlier = 'none' | 'perhaps'

export type EndDecision =
  | 'ended' // it is committed (or aborted, if that was asked)
  | 'resend' // identically, within the deadline
  | 'not-committed' // refused by epoch, and nothing earlier can have committed it
  | 'unknown' // only a barrier and an offset read can tell (R3)

const COORDINATOR_LOAD_IN_PROGRESS = 14

/**
 * R3: what an answer to EndTxn decides.
 *
 * A fenced answer proves "not committed" only when nothing earlier may have been applied: after a successor's barrier the
 * resend of an EndTxn that did commit is refused with 90 as well (P6).
 */
export function decideEnd(code: number, earlier: Earlier): EndDecision {
  switch (classify('EndTxn', code).verdict) {
    case 'ok':
      return 'ended'
    case 'wait':
    case 'resend':
      return 'resend'
    case 'fenced':
      return earlier === 'none' ? 'not-committed' : 'unknown'
    default:
      return 'unknown'
  }
}

/** What is known of the earlier transmissions once this one was answered. */
export const rememberEnd = (code: number, earlier: Earlier): Earlier =>
  code === COORDINATOR_LOAD_IN_PROGRESS ? earlier : 'perhaps'
