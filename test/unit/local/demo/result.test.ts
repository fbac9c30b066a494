import { expect, test } from 'vitest'
import { outputCounts, resultOf } from '../../../../lib/local/demo/result.ts'
import type { VerifyReport } from '../../../../lib/verify/report.ts'
import delays from '../../../../relays/delays.ts'

const report = {
  ok: true,
  records: 10,
  expected: 10,
  delivered: 10,
  lost: 0,
  duplicated: 0,
  outOfOrder: 0,
  abortedSeen: 0,
  openTransactions: 0,
  committedTransactions: 4,
} as VerifyReport

const last = {
  seconds: 3,
  records: 10,
  arrived: 10,
  relayed: 10,
  seenUncommitted: 12,
  seenCommitted: 10,
  kills: 5,
  redeliveries: 5,
  invocations: 9,
  windows: 3,
}
const fed = { late: 3, onTime: 6, dead: 1 }
const seen = new Map([
  ['flights.late', 3],
  ['flights.on-time', 6],
  ['flights.dead', 1],
])
const counts = outputCounts(delays, fed, seen)

test('the result has the fields that scripts rely on, windows as the log has them', () => {
  expect(resultOf(report, counts, last, 12.345)).toEqual({
    ok: true,
    records: 10,
    expected: 10,
    delivered: 10,
    lost: 0,
    duplicated: 0,
    outOfOrder: 0,
    abortedSeen: 0,
    openTransactions: 0,
    kills: 5,
    windows: 4,
    invocations: 9,
    seconds: 12.3,
  })
})

test('what the verifier does not prove is not ok', () => {
  expect(resultOf({ ...report, ok: false }, counts, last, 1).ok).toBe(false)
})

test('a verifier that read fewer records than arrived has not proven them', () => {
  expect(resultOf({ ...report, records: 9, expected: 9, delivered: 9 }, counts, last, 1).ok).toBe(false)
})

test.each(['flights.late', 'flights.on-time', 'flights.dead'])(
  'a consumer that counted otherwise in %s than what was fed is believed, whatever the verifier says',
  (topic) => {
    const other = outputCounts(delays, fed, new Map(seen).set(topic, 7))
    expect(resultOf(report, other, last, 1).ok).toBe(false)
  },
)
