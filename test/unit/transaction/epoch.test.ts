import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { advanceSequence, EPOCH_ABORTS_END, EPOCH_SPENT, successorOf } from '../../../lib/transaction/epoch.ts'

describe('who a producer is after its transaction', () => {
  const before = { producerId: 7n, producerEpoch: 4 }

  test('the same producer one epoch further, or a new one from epoch 0 on', () => {
    const further = { producerId: 7n, producerEpoch: 5 }
    const rotated = { producerId: 8n, producerEpoch: 0 }
    expect(successorOf(before, further)).toBe(further)
    expect(successorOf(before, rotated)).toBe(rotated)
  })

  test.each([
    { producerId: 7n, producerEpoch: 4 },
    { producerId: 7n, producerEpoch: 6 },
    { producerId: 7n, producerEpoch: 0 },
    { producerId: 8n, producerEpoch: 1 },
    { producerId: -1n, producerEpoch: -1 },
    { producerId: -1n, producerEpoch: 0 },
  ])('nobody else: %o', (answered) => {
    expect(successorOf(before, answered)).toBe(null)
  })

  test('no transaction begins where it would end in the last epoch, and no abort could lead there (P4)', () => {
    expect(EPOCH_SPENT).toBe(2 ** 15 - 2)
    expect(EPOCH_ABORTS_END).toBeLessThan(EPOCH_SPENT)
  })
})

describe('sequences', () => {
  test('count records and wrap after 2^31 - 1, also inside a batch', () => {
    expect(advanceSequence(0, 5)).toBe(5)
    expect(advanceSequence(2 ** 31 - 1, 1)).toBe(0)
    expect(advanceSequence(2 ** 31 - 3, 5)).toBe(2)
  })

  test('stay in range and add up over any batches', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), fc.array(fc.integer({ min: 1, max: 1_000_000 })), (start, counts) => {
        const last = counts.reduce(advanceSequence, start)
        const total = counts.reduce((sum, count) => sum + count, start)
        expect(last).toBe(total % 2 ** 31)
      }),
    )
  })
})
