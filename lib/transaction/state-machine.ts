import type { SessionState } from './session.ts'

/**
 * What happens to a session: to its transaction as a whole, and to the single requests of it.
 */
export type SessionEvent =
  | 'begin' // the owner opens a transaction
  | 'transmit' // a request of the transaction is about to leave
  | 'transmit-end' // EndTxn is about to leave, for the first time or again
  | 'accept' // a request got its clear yes
  | 'doubt' // a request got another answer, or none within the deadline
  | 'fence' // the broker refuses this producer id and epoch: 47, 48, 49, 90
  | 'commit' // EndTxn(commit) is about to leave
  | 'abort' // EndTxn(abort) is about to leave
  | 'abandon' // no EndTxn was or will be sent: the next barrier ends the transaction
  | 'end' // EndTxn answered 0 and the session may go on
  | 'retire' // EndTxn answered 0 and the session may not go on (R5)

/** A state alone: the event is allowed and leads there. With `!`: it is refused, and the session is then in that state. */
export type Cell = SessionState | `!${SessionState}`

/**
 * The life of a session, as a table of state x event. Only the path ready -> open -> committing -> ready commits.
 *
 * - ready: entered by the barrier and by an EndTxn answered 0. Nothing is open and every transmission that could still
 *   touch this session was answered, or is refused by its older epoch. Left by begin, or by abandon.
 * - open: entered by begin. Every answer so far is a clear yes, or still awaited. The only state in which requests of the transaction leave.
 * - committing: entered by commit, when nothing is awaited. EndTxn(commit) may be at the broker. Left by its answer:
 *   end or retire (committed), fence (not committed), doubt (unknown), abandon (it never left).
 * - aborting: entered by abort from open. Left by any answer; whatever it is, nothing was committed.
 * - poisoned: entered by doubt, and by whatever should be impossible. Sends nothing but EndTxn(abort).
 * - closing: entered by abort from poisoned, so that nobody waits for a transaction that no barrier may follow soon. Left
 *   by any answer, always towards closed.
 * - fenced: entered by fence. Sends nothing any more, not even an abort: its answer can revive the session (P4).
 * - unknown: EndTxn(commit) may have been applied. Only a barrier and an offset read can tell (R3).
 * - closed: nothing is open for this session any more that it could end; it must be replaced.
 *
 * From poisoned, closing, fenced, unknown and closed no path leads back to a state that can commit. An impossible event poisons;
 * while committing it makes the outcome unknown, because EndTxn cannot be called back.
 */
export const transitions: Readonly<Record<SessionState, Readonly<Record<SessionEvent, Cell>>>> = {
  ready: {
    begin: 'open',
    transmit: '!poisoned',
    'transmit-end': '!poisoned',
    accept: '!poisoned',
    doubt: '!poisoned',
    fence: '!fenced',
    commit: '!poisoned',
    abort: '!poisoned',
    abandon: 'closed',
    end: '!poisoned',
    retire: '!poisoned',
  },
  open: {
    begin: '!poisoned',
    transmit: 'open',
    'transmit-end': '!poisoned',
    accept: 'open',
    doubt: 'poisoned',
    fence: 'fenced',
    commit: 'committing',
    abort: 'aborting',
    abandon: 'closed',
    end: '!poisoned',
    retire: '!poisoned',
  },
  committing: {
    begin: '!unknown',
    transmit: '!unknown',
    'transmit-end': 'committing',
    accept: '!unknown',
    doubt: 'unknown',
    fence: 'fenced',
    commit: '!unknown',
    abort: '!unknown',
    abandon: 'closed',
    end: 'ready',
    retire: 'closed',
  },
  aborting: {
    begin: '!closed',
    transmit: '!closed',
    'transmit-end': 'aborting',
    accept: '!closed',
    doubt: 'closed',
    fence: 'fenced',
    commit: '!closed',
    abort: '!closed',
    abandon: 'closed',
    end: 'ready',
    retire: 'closed',
  },
  poisoned: {
    begin: '!poisoned',
    transmit: '!poisoned',
    'transmit-end': '!poisoned',
    accept: 'poisoned', // the answer of a request that was on its way when another one poisoned the session
    doubt: 'poisoned',
    fence: 'fenced',
    commit: '!poisoned',
    abort: 'closing',
    abandon: 'closed',
    end: '!poisoned',
    retire: '!poisoned',
  },
  closing: {
    begin: '!closed',
    transmit: '!closed',
    'transmit-end': 'closing',
    accept: 'closing',
    doubt: 'closed',
    fence: 'fenced',
    commit: '!closed',
    abort: '!closed',
    abandon: 'closed',
    end: 'closed',
    retire: 'closed',
  },
  fenced: stay('fenced'),
  unknown: stay('unknown'),
  closed: stay('closed'),
}

/** A state without exits: late answers change nothing, wishes are refused. */
function stay(state: SessionState): Record<SessionEvent, Cell> {
  return {
    begin: `!${state}`,
    transmit: `!${state}`,
    'transmit-end': `!${state}`,
    accept: state,
    doubt: state,
    fence: state,
    commit: `!${state}`,
    abort: `!${state}`,
    abandon: state,
    end: `!${state}`,
    retire: `!${state}`,
  }
}

export interface Transition {
  readonly allowed: boolean
  readonly next: SessionState
}

export function transition(state: SessionState, event: SessionEvent): Transition {
  const cell = transitions[state][event]
  return isRefusal(cell) ? { allowed: false, next: refusedState(cell) } : { allowed: true, next: cell }
}

const isRefusal = (cell: Cell): cell is `!${SessionState}` => cell.startsWith('!')
const refusedState = (cell: `!${SessionState}`): SessionState => cell.slice(1) as SessionState
