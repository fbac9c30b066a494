import { describe, expect, test } from 'vitest'
import type { FenceRecord } from '../../../lib/fencing/fence-record.ts'
import { type AcquireRequest, decideAcquire, leaseMsFor, rollbackAfterMs } from '../../../lib/fencing/fence-rules.ts'
import { acquireRequest, fenceRecord, freeRecord } from '../../helpers/fences.ts'

const nowMs = 1_000_000
const live = fenceRecord({ leaseUntilMs: nowMs + 1 })
const expired = fenceRecord({ leaseUntilMs: nowMs })

function write(found: FenceRecord, over: Partial<AcquireRequest> = {}) {
  const decision = decideAcquire(found, acquireRequest({ nowMs, ...over }))
  if (decision.kind !== 'take' && decision.kind !== 'continue') throw new Error(`not acquired: ${decision.kind}`)
  return { ...decision.write, ...decision, after: { ...found, ...decision.write.changes } }
}
const kindOf = (found: FenceRecord | null, over: Partial<AcquireRequest> = {}) =>
  decideAcquire(found, acquireRequest({ nowMs, ...over })).kind

describe('a lane without a record', () => {
  const decision = decideAcquire(null, acquireRequest({ nowMs }))
  const record = decision.kind === 'create' ? decision.write.record : null

  test('gets one with token 1, a lineage, our nonce and a lease', () => {
    expect(record).toMatchObject({ token: 1, lineage: 'lineage-1', leaseUntilMs: nowMs + 5_000, working: true })
    expect(record?.owner).toEqual({ nonce: 'nonce-new', container: 'container-a', requestId: 'request-1' })
    expect(record?.generation).toBe(7)
  })

  test.each([true, false])('S1: is dirty from the start only if step 0 found offsets (%s)', (offsetsFound) => {
    const made = decideAcquire(null, acquireRequest({ offsetsFound }))
    expect(made.kind === 'create' && made.write.record.dirty).toBe(offsetsFound)
  })

  test('made by an operator it belongs to the oldest generation', () => {
    const made = decideAcquire(null, acquireRequest({ generation: null }))
    expect(made.kind === 'create' && made.write.record.generation).toBe(0)
  })
})

describe('whom a lease keeps out', () => {
  test('a live lease of another owner', () => expect(kindOf(live)).toBe('leased'))
  test('an expired lease, when there is no time to use the lane', () =>
    expect(kindOf(expired, { mayPreempt: false })).toBe('leased'))
  test('an expired lease is taken when there is time', () => expect(kindOf(expired)).toBe('take'))
  test('a free lane is taken without regard to time', () =>
    expect(kindOf(freeRecord(), { mayPreempt: false })).toBe('take'))
  test('the refusal names the owner and its lease', () => {
    const decision = decideAcquire(live, acquireRequest({ nowMs }))
    expect(decision).toEqual({ kind: 'leased', record: live })
  })
})

describe('the fencing token', () => {
  test.each([
    ['a free lane', freeRecord({ token: 4 })],
    ['an expired owner', { ...expired, token: 4 }],
  ])('grows by one when another owner takes %s', (_, found) => {
    expect(write(found).after.token).toBe(5)
  })

  test('the write is refused if token, owner or revision changed since the read', () => {
    const { expected, revision } = write({ ...expired, token: 4, revision: 10 })
    expect(expected).toEqual({ token: 4, nonce: 'nonce-1' })
    expect(revision).toBe(11)
    expect(write(freeRecord({ token: 4 })).expected).toEqual({ token: 4, nonce: null })
  })

  test('each acquire has a nonce of its own', () => {
    expect(write(freeRecord()).after.owner?.nonce).toBe('nonce-new')
  })
})

describe('going on where the same container left off (R7)', () => {
  const ours = { token: 1, nonce: 'nonce-1', record: freeRecord() }

  test('a free record with our token and our last nonce keeps the token', () => {
    const continued = write(freeRecord(), { held: ours })
    expect(continued.kind).toBe('continue')
    expect(continued.after.token).toBe(1)
    expect(continued.after.owner?.nonce).toBe('nonce-new')
  })

  test.each([
    ['S13: another owner in between', freeRecord({ token: 2, lastNonce: 'nonce-2' })],
    ['another owner with the same token after a restore of the table', freeRecord({ lastNonce: 'nonce-2' })],
    ['an adopted token', freeRecord({ token: 9 })],
  ])('%s ends the session', (_, found) => {
    expect(write(found, { held: ours }).kind).toBe('take')
    expect(write(found, { held: ours }).after.token).toBe(found.token + 1)
  })

  test('a lane that is not free is not gone on with, even under our token: somebody worked there since', () => {
    const since = { ...expired, lastNonce: 'nonce-1', owner: { nonce: 'nonce-2', container: 'c', requestId: 'r' } }
    expect(write(since, { held: ours }).kind).toBe('take')
  })

  test('without a memory of an earlier hold the lane is taken', () => expect(kindOf(freeRecord())).toBe('take'))

  test('S7: our own release that never arrived leaves a lease that we may take at once, with a new token', () => {
    const leftover = write(live, { held: ours, mayPreempt: false })
    expect(leftover.kind).toBe('take')
    expect(leftover.after.token).toBe(2)
    expect(leftover.expected.nonce).toBe('nonce-1')
  })
})

describe('dirty', () => {
  test.each([
    [false, false, false],
    [false, true, true],
    [true, false, true],
    [true, true, true],
  ])('found %s, offsets found %s: %s after the acquire', (dirty, offsetsFound, after) => {
    expect(write(freeRecord({ dirty }), { offsetsFound }).after.dirty).toBe(after)
  })
})

describe('counting deaths', () => {
  const intent = { partition: 0, from: 5n, recordsMax: 1, stage: 'transform', deathsAlone: 1, startedAtMs: 0 } as const

  test('an owner that released was alive', () => {
    expect(write(freeRecord({ attempts: 2 })).after).toMatchObject({ attempts: 2, working: true })
  })

  test('an owner found at work has died', () => {
    expect(write({ ...expired, attempts: 2 }).after).toMatchObject({ attempts: 3, working: true })
  })

  test('our own leftover is no death', () => {
    const held = { token: 1, nonce: 'nonce-1', record: live }
    expect(write(live, { held }).after.attempts).toBe(0)
  })

  test('a death alone in the transform counts against the record', () => {
    expect(write({ ...expired, intent }).after.intent).toEqual({ ...intent, deathsAlone: 2, stage: 'read' })
  })

  test.each([
    ['in company', { ...intent, recordsMax: 2 }],
    ['while reading', { ...intent, stage: 'read' as const }],
    ['while committing', { ...intent, stage: 'commit' as const }],
  ])('a death %s blames no record', (_, announced) => {
    const after = write({ ...expired, intent: announced }).after
    expect(after).toMatchObject({ attempts: 1, intent: { deathsAlone: 1 } })
  })

  test('P8: a second death before the transform is not blamed on the record again', () => {
    const once = write({ ...expired, intent }).after
    const twice = write({ ...once, leaseUntilMs: 0 }, { nonce: 'nonce-3' }).after
    expect(twice).toMatchObject({ attempts: 2, intent: { deathsAlone: 2 } })
  })
})

describe('the length of a lease', () => {
  const bounds = { leaseMs: 5_000, leaseMaxMs: 60_000 }

  test.each([
    [0, 5_000],
    [1, 10_000],
    [3, 40_000],
    [4, 60_000],
    [5_000, 60_000],
  ])('after %i deaths it is %i ms: doubled, up to the function timeout', (attempts, ms) => {
    expect(leaseMsFor(attempts, bounds)).toBe(ms)
  })

  test('is never below what was asked for', () => {
    expect(leaseMsFor(3, { leaseMs: 5_000, leaseMaxMs: 1_000 })).toBe(5_000)
  })

  test('S5: a transform that blocks for 8 s under a 5 s lease is preempted once, not for ever', () => {
    const blocksMs = 8_000
    const preempted = write({ ...expired, attempts: 0 }).after
    expect(preempted.leaseUntilMs - nowMs).toBeGreaterThan(blocksMs)
    expect(kindOf(preempted, { nowMs: nowMs + blocksMs })).toBe('leased')
  })

  test('the death just found already lengthens it', () => {
    expect(write({ ...expired, attempts: 1 }).after.leaseUntilMs).toBe(nowMs + 20_000)
  })
})

describe('a stopped lane (R12)', () => {
  const stopped = freeRecord({ stopped: { code: 'OFFSET_MOVED', message: 'moved', atMs: 1 } })

  test('S11: is refused to everybody, whatever the generation', () => {
    expect(kindOf(stopped)).toBe('stopped')
    expect(kindOf({ ...stopped, generation: 99, generationAtMs: nowMs })).toBe('stopped')
  })

  test('opens for an operator and stays stopped until that is said', () => {
    const opened = write(stopped, { acceptStopped: true, generation: null })
    expect(opened.kind).toBe('take')
    expect(opened.after.stopped).toEqual(stopped.stopped)
  })

  test('is refused to an operator too while somebody works on it', () => {
    expect(kindOf({ ...live, stopped: stopped.stopped }, { acceptStopped: true })).toBe('leased')
  })
})

describe('generations (S12)', () => {
  const at = nowMs - rollbackAfterMs
  const newer = freeRecord({ generation: 8, generationAtMs: nowMs - 1 })

  test('a newer deployment takes over at once and says since when', () => {
    expect(write(freeRecord({ generation: 6, generationAtMs: at })).after).toMatchObject({
      generation: 7,
      generationAtMs: nowMs,
    })
  })

  test("an older deployment's container stands down, even with a session of its own", () => {
    const held = { token: 1, nonce: 'nonce-1', record: newer }
    expect(kindOf(newer)).toBe('older-generation')
    expect(kindOf(newer, { held })).toBe('older-generation')
  })

  test('after 15 minutes it is a rollback: it takes over and raises an alarm', () => {
    const decision = write({ ...newer, generationAtMs: at })
    expect(decision.rollback).toBe(true)
    expect(decision.after).toMatchObject({ generation: 7, generationAtMs: nowMs })
  })

  test('one millisecond earlier it still stands down', () => {
    expect(kindOf({ ...newer, generationAtMs: at + 1 })).toBe('older-generation')
  })

  test('a rollback respects a live lease', () => {
    expect(kindOf({ ...live, generation: 8, generationAtMs: at })).toBe('leased')
  })

  test('the same deployment keeps the time of its arrival', () => {
    const again = write(freeRecord({ generation: 7, generationAtMs: at }))
    expect(again.after.generationAtMs).toBe(at)
    expect(again.rollback).toBe(false)
  })

  test('a withdrawn deployment stands down for good; older ones and later ones do not', () => {
    const rolledBack = freeRecord({ generation: 0, withdrawn: { above: 6, upTo: 8, atMs: 0 } })
    const kinds = [5, 6, 7, 8, 9].map((generation) => kindOf(rolledBack, { generation }))
    expect(kinds).toEqual(['take', 'take', 'older-generation', 'older-generation', 'take'])
    expect(kindOf(rolledBack, { generation: null })).toBe('take')
  })

  test('what was withdrawn by an earlier rollback stays so', () => {
    const withdrawnBefore = new Map([
      [1, 2],
      [6, 8],
    ])
    const twice = freeRecord({ generation: 0, withdrawn: { above: 10, upTo: 12, atMs: 0 }, withdrawnBefore })
    const kinds = [1, 2, 6, 7, 8, 9, 11, 13].map((generation) => kindOf(twice, { generation }))
    const downs = kinds.map((kind) => kind === 'older-generation')
    expect(downs).toEqual([false, true, false, true, true, false, true, false])
  })

  test('an operator leaves the generation alone', () => {
    const opened = write(newer, { generation: null })
    expect(opened.after.generation).toBe(8)
    expect(opened.rollback).toBe(false)
  })
})
