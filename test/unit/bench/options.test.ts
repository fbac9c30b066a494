import { expect, test } from 'vitest'
import { countFrom } from '../../../bench/options.ts'

test('a count may be written with separators', () => {
  expect(countFrom(1, 5_000_000)('1,000_000')).toBe(1_000_000)
})

test.each(['0', '11', '2.5', 'many', ''])('%j is refused by its bounds', (text) => {
  expect(() => countFrom(1, 10)(text)).toThrow(`"${text}" is not a whole number from 1 to 10.`)
})
