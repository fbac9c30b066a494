import { expect, test } from 'vitest'
import { type ResultParts, resultOf } from '../../../../lib/local/chaos/result.ts'
import type { TallyResult } from '../../../../lib/local/chaos/tally.ts'
import type { VerifyReport } from '../../../../lib/verify/report.ts'

const proven: VerifyReport = {
  ok: true,
  verdict: 'proven',
  sentence: 'Proven.',
  relay: 'numbered',
  by: 'ids',
  records: 100,
  expected: 100,
  delivered: 100,
  lost: 0,
  unseen: 0,
  duplicated: 0,
  ahead: 0,
  outOfOrder: 0,
  unexplained: 0,
  foreign: 0,
  abortedSeen: 0,
  openTransactions: 0,
  abortedTransactions: 4,
  committedTransactions: 20,
  deadLetters: 0,
  lag: 0,
  seconds: 1,
  findings: [],
}
const seen: TallyResult = { seen: 100, lost: 0, duplicated: 0, outOfOrder: 0, unexplained: 0, examples: [] }
const event = (name: string, hit: string | null = 'container 1') => ({ name, beganMs: 0, endedMs: 1, hit })

function result(report: Partial<VerifyReport> = {}, tally: Partial<TallyResult> = {}, over: Partial<ResultParts> = {}) {
  return resultOf({
    subject: 'fencepost',
    seed: 1,
    report: { ...proven, ...report },
    tally: { ...seen, ...tally },
    kinds: ['kill-function', 'delay'],
    events: [event('kill-function'), event('kill-function'), event('delay')],
    invocations: 30,
    loadGapMs: 120,
    seconds: 60,
    ...over,
  })
}

test('proven by the verifier, confirmed by the reader, every kind fired: ok', () => {
  expect(result()).toMatchObject({
    ok: true,
    records: 100,
    lost: 0,
    duplicated: 0,
    readerAgreed: true,
    kills: 2,
    faultsFired: { 'kill-function': 2, delay: 1 },
  })
})

test('a kind that struck nothing is not counted, and fails the run', () => {
  const events = [event('kill-function'), event('delay', null)]
  expect(result({}, {}, { events })).toMatchObject({ ok: false, faultsFired: { 'kill-function': 1, delay: 0 } })
})

test.each([
  ['saw a record doubled', {}, { seen: 101, duplicated: 1 }],
  ['missed a record', {}, { seen: 99, lost: 1 }],
  ['saw something that nobody wrote', {}, { seen: 101, unexplained: 1 }],
  ['saw one output more than the verifier', {}, { seen: 101 }],
  ['saw disorder', {}, { outOfOrder: 1 }],
  ['agrees that one is lost', { ok: false, verdict: 'violated', delivered: 99, lost: 1 }, { seen: 99, lost: 1 }],
] as const)('not ok when the reader %s', (_what, report, tally) => {
  expect(result(report, tally).ok).toBe(false)
})

test('not ok when a record, of which none is malformed, went to the dead letters', () => {
  expect(result({ deadLetters: 1 })).toMatchObject({ ok: false, deadLetters: 1, readerAgreed: true })
})

test('losses are counted by whoever found more; what is not relayed yet is no loss', () => {
  const unproven = { ok: false, verdict: 'unproven', delivered: 90, expected: 90, records: 90, lag: 10 } as const
  expect(result(unproven, { seen: 90, lost: 10 })).toMatchObject({ ok: false, lost: 0, lag: 10, readerAgreed: true })
  expect(result(unproven, { seen: 89, lost: 11 })).toMatchObject({ ok: false, lost: 1, readerAgreed: false })
})
