import { describe, expect, test } from 'vitest'
import { median, quantile, rounded, spread } from '../../../bench/statistics.ts'

describe('quantile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)

  test.each([
    [0.5, 50],
    [0.99, 99],
    [1, 100],
    [0, 1],
  ])('%f of 1 to 100, in any order, is %i: nearest rank', (share, value) => {
    expect(quantile(hundred, share)).toBe(value)
  })

  test('is always a value that was measured', () => {
    expect(quantile([1, 1_000], 0.5)).toBe(1)
  })

  test('of nothing is no number', () => {
    expect(quantile([], 0.5)).toBeNaN()
  })
})

test('the median of an even count lies between the middle two, that of an odd count is the middle one', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([9, 1, 3])).toBe(3)
})

test('the spread is how far the extremes lie apart, as a share of the median', () => {
  expect(spread([90, 100, 110])).toBeCloseTo(0.2)
  expect(spread([7])).toBe(0)
})

test('figures are rounded, not cut', () => {
  expect(rounded(1.996)).toBe(2)
  expect(rounded(1.2346, 3)).toBe(1.235)
})
