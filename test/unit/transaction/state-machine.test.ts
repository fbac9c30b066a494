import { describe, expect, test } from 'vitest'
import type { SessionState } from '../../../lib/transaction/session.ts'
import { type SessionEvent, transition, transitions } from '../../../lib/transaction/state-machine.ts'

const states = Object.keys(transitions) as SessionState[]
const events = Object.keys(transitions.ready) as SessionEvent[]
const cells = states.flatMap((state) => events.map((event) => [state, event] as const))

/** The whole table, written a second time by meaning instead of by state: what is allowed, and where it leads. */
const allowed: Readonly<Record<SessionEvent, Partial<Record<SessionState, SessionState>>>> = {
  begin: { ready: 'open' },
  transmit: { open: 'open' },
  'transmit-end': { committing: 'committing', aborting: 'aborting', closing: 'closing' },
  accept: {
    open: 'open',
    poisoned: 'poisoned',
    closing: 'closing',
    fenced: 'fenced',
    unknown: 'unknown',
    closed: 'closed',
  },
  doubt: {
    open: 'poisoned',
    committing: 'unknown',
    aborting: 'closed',
    closing: 'closed',
    poisoned: 'poisoned',
    fenced: 'fenced',
    unknown: 'unknown',
    closed: 'closed',
  },
  fence: {
    open: 'fenced',
    committing: 'fenced',
    aborting: 'fenced',
    closing: 'fenced',
    poisoned: 'fenced',
    fenced: 'fenced',
    unknown: 'unknown',
    closed: 'closed',
  },
  commit: { open: 'committing' },
  abort: { open: 'aborting', poisoned: 'closing' },
  abandon: {
    ready: 'closed',
    open: 'closed',
    committing: 'closed',
    aborting: 'closed',
    closing: 'closed',
    poisoned: 'closed',
    fenced: 'fenced',
    unknown: 'unknown',
    closed: 'closed',
  },
  end: { committing: 'ready', aborting: 'ready', closing: 'closed' },
  retire: { committing: 'closed', aborting: 'closed', closing: 'closed' },
}

/** Where a state goes when something impossible happens in it. */
const whenImpossible: Readonly<Record<SessionState, SessionState>> = {
  ready: 'poisoned',
  open: 'poisoned',
  committing: 'unknown',
  aborting: 'closed',
  closing: 'closed',
  poisoned: 'poisoned',
  fenced: 'fenced',
  unknown: 'unknown',
  closed: 'closed',
}

function reachableFrom(start: SessionState): ReadonlySet<SessionState> {
  const reached = new Set([start])
  for (const state of reached) for (const event of events) reached.add(transition(state, event).next)
  return reached
}

describe('the life of a session', () => {
  test('has nine states and eleven events', () => {
    expect(states).toHaveLength(9)
    expect(events).toHaveLength(11)
  })

  test.each(cells)('%s + %s leads where it must', (state, event) => {
    const next = allowed[event][state]
    const impossible = state === 'ready' && event === 'fence' ? 'fenced' : whenImpossible[state]
    expect(transition(state, event)).toEqual(
      next === undefined ? { allowed: false, next: impossible } : { allowed: true, next },
    )
  })

  test.each(['poisoned', 'closing', 'fenced', 'unknown', 'closed'] as const)(
    'no path leads from %s to a commit',
    (state) => {
      const reached = reachableFrom(state)
      expect(reached).not.toContain('ready')
      expect(reached).not.toContain('open')
      expect(reached).not.toContain('committing')
      expect(reached).not.toContain('aborting')
    },
  )

  test('commit is allowed in open only, and only committing leads back to ready as committed', () => {
    const committable = states.filter((state) => transition(state, 'commit').allowed)
    expect(committable).toEqual(['open'])
    const ways = cells.filter(([state, event]) => state !== 'ready' && transition(state, event).next === 'ready')
    expect(ways).toEqual([
      ['committing', 'end'],
      ['aborting', 'end'],
    ])
  })

  test('nothing is transmitted in fenced, unknown, closed or poisoned (P4: an abort can revive a fenced session)', () => {
    for (const state of ['fenced', 'unknown', 'closed', 'poisoned'] as const) {
      for (const event of ['transmit', 'transmit-end'] as const) {
        expect(transition(state, event)).toEqual({ allowed: false, next: state })
      }
    }
    for (const state of ['fenced', 'unknown', 'closed'] as const) {
      expect(transition(state, 'abort')).toEqual({ allowed: false, next: state })
    }
  })
})
