import { expect, test } from 'vitest'
import { attemptsAtOpen, recordsMaxNow } from '../../../lib/relay/poison.ts'

test('windows are halved per attempt down to one record', () => {
  expect([0, 1, 2, 9, 10, 60].map((attempts) => recordsMaxNow(1000, attempts, 0))).toEqual([1000, 500, 250, 1, 1, 1])
})
test('each window that commits doubles the next one again', () => {
  expect([0, 1, 2, 3, 9].map((commits) => recordsMaxNow(1000, 3, commits))).toEqual([125, 250, 500, 1000, 1000])
})
test('the count stays while the position stays, and starts anew once it has moved (S5)', () => {
  expect(attemptsAtOpen(4, true, false)).toBe(4)
  expect(attemptsAtOpen(4, true, true)).toBe(1)
  expect(attemptsAtOpen(4, false, true)).toBe(0)
})
