import { expect, test } from 'vitest'
import { partialFailures } from '../../../lib/lambda/partial-failures.ts'

test('each failed partition is named once, with its lowest failed offset', () => {
  const answer = partialFailures([
    { topic: 'a-b', partition: 1, fromOffset: 9n },
    { topic: 'a-b', partition: 0, fromOffset: 0n },
    { topic: 'a-b', partition: 1, fromOffset: 7n },
  ])
  expect(answer).toEqual({
    batchItemFailures: [
      { itemIdentifier: { partition: 'a-b-1', offset: 7 } },
      { itemIdentifier: { partition: 'a-b-0', offset: 0 } },
    ],
  })
})

test('no failure is an empty list, which means success', () => {
  expect(partialFailures([])).toEqual({ batchItemFailures: [] })
})

test('an offset that a JSON number cannot carry is never rounded', () => {
  const tooHigh = { topic: 't', partition: 0, fromOffset: 2n ** 53n }
  expect(() => partialFailures([tooHigh])).toThrow('INVARIANT_BROKEN')
})
