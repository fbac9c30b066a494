import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fairShare } from '../../../../lib/relay/worker/share.ts'

describe('shares of a crew', () => {
  test('add up to all lanes and differ by one at most', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.integer({ min: 1, max: 40 }), (lanes, workers) => {
        const shares = Array.from({ length: workers }, (_, rank) => fairShare(lanes, { workers, rank }))
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(lanes)
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
      }),
    )
  })
})
