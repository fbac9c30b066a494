import { describe, expect, test } from 'vitest'
import type { FenceIntent } from '../../../lib/fencing/fence-record.ts'
import { announce, checkChanges, type Ending, endingChanges } from '../../../lib/fencing/owner-rules.ts'
import { fenceRecord, freeRecord, offsets } from '../../helpers/fences.ts'

const settled = (...pairs: [number, bigint][]): Ending => ({
  kind: 'settled',
  committedUntil: offsets(...pairs),
  committedAtMs: 1_000_000,
  producer: { id: 4n, epoch: 2 },
})
const intent: FenceIntent = {
  partition: 0,
  from: 10n,
  recordsMax: 1,
  stage: 'transform',
  deathsAlone: 2,
  startedAtMs: 1,
}
const worked = fenceRecord({ dirty: true, committedUntil: offsets([0, 5n]) })

describe('every ending that the process lives to see', () => {
  test.each<Ending>([settled([0, 9n]), { kind: 'unknown' }, { kind: 'unopened' }])(
    'frees the lane, is no death, and keeps our nonce as the last one ($kind)',
    (ending) => {
      expect(endingChanges(worked, ending, false)).toMatchObject({
        owner: null,
        lastNonce: 'nonce-1',
        leaseUntilMs: 0,
        working: false,
      })
    },
  )

  test('settled: the record is clean and remembers the position and the producer', () => {
    expect(endingChanges(worked, settled([0, 9n]), true)).toMatchObject({
      dirty: false,
      committedUntil: offsets([0, 9n]),
      committedAtMs: 1_000_000,
      producerId: 4n,
      producerEpoch: 2,
    })
  })

  test('settled without a commit: the last one stays remembered', () => {
    const ending = { ...settled([0, 5n]), committedAtMs: null } as Ending
    expect(endingChanges(worked, ending, true)).not.toHaveProperty('committedAtMs')
  })

  test('S7: an unknown outcome leaves dirty and F exactly as they are', () => {
    const changes = endingChanges(worked, { kind: 'unknown' }, false)
    expect(changes).not.toHaveProperty('dirty')
    expect(changes).not.toHaveProperty('committedUntil')
  })

  test('S1: an unknown outcome of the very first commit does not make the record dirty', () => {
    const first = fenceRecord({ dirty: false, committedUntil: offsets([0, 5n]) })
    expect({ ...first, ...endingChanges(first, { kind: 'unknown' }, false) }.dirty).toBe(false)
  })

  test.each([true, false])('unopened: as dirty as it was found (%s)', (before) => {
    expect(endingChanges(worked, { kind: 'unopened' }, before)).toMatchObject({ dirty: before })
  })

  test('a lane without an owner cannot be ended', () => {
    expect(() => endingChanges(freeRecord(), { kind: 'unknown' }, false)).toThrow(/INVARIANT_BROKEN: only the owner/)
  })
})

describe('deaths at an ending', () => {
  const trying = { ...worked, attempts: 4, intent, committedUntil: offsets([0, 10n]) }

  test('are forgotten once the position is past the announced window', () => {
    expect(endingChanges(trying, settled([0, 11n]), false)).toMatchObject({ attempts: 0, intent: null })
  })

  test('are kept while it is not, even if F was far behind', () => {
    const behind = { ...trying, committedUntil: offsets([0, 3n]) }
    const after = { ...behind, ...endingChanges(behind, settled([0, 10n]), false) }
    expect(after).toMatchObject({ attempts: 4, intent: { from: 10n, deathsAlone: 2, stage: 'read' } })
  })

  test('without an announced window F tells whether the position moved', () => {
    const opening = { ...trying, intent: null }
    expect(endingChanges(opening, settled([0, 11n]), false)).toMatchObject({ attempts: 0 })
    expect(endingChanges(opening, settled([0, 10n]), false)).not.toHaveProperty('attempts')
  })

  test('a stage never stays at transform: who lived did not die there', () => {
    expect(endingChanges(trying, { kind: 'unopened' }, false).intent?.stage).toBe('read')
  })
})

describe('announcing a window', () => {
  const tried = fenceRecord({ attempts: 6, intent })
  const window = { partition: 0, from: 10n, recordsMax: 1, stage: 'read' } as const

  test('the same record alone keeps its deaths and the count', () => {
    expect(announce(tried, window, 6, 7)).toEqual({
      attempts: 6,
      intent: { ...window, deathsAlone: 2, startedAtMs: 7 },
    })
  })

  test('in company nobody is blamed', () => {
    expect(announce(tried, { ...window, recordsMax: 2 }, 6, 7).intent?.deathsAlone).toBe(0)
    const company = { ...tried, intent: { ...intent, recordsMax: 2 } }
    expect(announce(company, window, 6, 7).intent?.deathsAlone).toBe(0)
  })

  test.each([
    ['offset', { ...window, from: 11n }],
    ['partition', { ...window, partition: 1 }],
  ])('S5: at another %s the count starts anew', (_, moved) => {
    expect(announce(tried, moved, 6, 7)).toMatchObject({ attempts: 1, intent: { deathsAlone: 0 } })
  })

  test('the first announcement keeps the count', () => {
    expect(announce({ ...tried, intent: null }, window, 6, 7)).toMatchObject({
      attempts: 6,
      intent: { deathsAlone: 0 },
    })
  })
})

describe('what no owner may write', () => {
  const record = fenceRecord({ token: 5, committedUntil: offsets([0, 10n], [1, 20n]) })

  test('a lower token', () => {
    expect(() => checkChanges(record, { token: 4 })).toThrow(/token must never decrease/)
  })

  test.each([
    ['a lower F', offsets([0, 10n], [1, 19n])],
    ['an F that forgets a partition', offsets([0, 10n])],
  ])('%s', (_, committedUntil) => {
    expect(() => checkChanges(record, { committedUntil })).toThrow(/position must never decrease under one token/)
  })

  test('a higher F, and one for a partition that was added, pass', () => {
    expect(checkChanges(record, { committedUntil: offsets([0, 10n], [1, 21n], [2, 0n]) })).toBeUndefined()
  })

  test('S8: a reset may move F back, to exactly where it says', () => {
    const resetting = { ...record, resetTo: offsets([0, 3n]) }
    expect(checkChanges(resetting, { committedUntil: offsets([0, 3n], [1, 20n]), resetTo: null })).toBeUndefined()
    expect(() => checkChanges(resetting, { committedUntil: offsets([0, 2n], [1, 20n]) })).toThrow(/never decrease/)
    expect(() => checkChanges(resetting, { committedUntil: offsets([0, 3n], [1, 2n]) })).toThrow(/never decrease/)
  })

  test('S9: a lineage changes only with a higher token or while no position is remembered', () => {
    expect(() => checkChanges(record, { lineage: 'other' })).toThrow(/lineage with committed offsets/)
    expect(checkChanges(record, { lineage: 'other', token: 6 })).toBeUndefined()
    expect(checkChanges({ ...record, committedUntil: offsets() }, { lineage: 'other' })).toBeUndefined()
    expect(checkChanges(record, { lineage: record.lineage })).toBeUndefined()
  })
})
