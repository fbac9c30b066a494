import { type ErrorCode, RelayError } from '../errors.ts'
import type { SessionState } from './session.ts'

/** What the owner is told when a session in this state is asked for something that it cannot do. */
const codes = {
  ready: 'INVARIANT_BROKEN',
  open: 'INVARIANT_BROKEN',
  committing: 'INVARIANT_BROKEN',
  aborting: 'INVARIANT_BROKEN',
  closing: 'SESSION_POISONED',
  poisoned: 'SESSION_POISONED',
  closed: 'SESSION_POISONED',
  fenced: 'SESSION_FENCED',
  unknown: 'COMMIT_UNKNOWN',
} as const satisfies Record<SessionState, ErrorCode>

export function refusal(
  name: string,
  state: SessionState,
  event: string,
  reason: RelayError | null,
  facts: Record<string, unknown>,
): RelayError {
  const why = reason ? `, because of ${reason.message}` : ''
  return new RelayError(codes[state], `${name}: a session that is ${state} cannot ${event}${why}; open a new one`, {
    outcome: state === 'committing' || state === 'unknown' ? 'unknown' : 'not-applied',
    context: { ...facts, event },
    ...(reason && { cause: reason }),
  })
}
