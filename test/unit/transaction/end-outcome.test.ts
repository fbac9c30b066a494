import { describe, expect, test } from 'vitest'
import { kafkaErrorCodes } from '../../../lib/kafka/error-codes.ts'
import { decideEnd, rememberEnd } from '../../../lib/transaction/end-outcome.ts'

const codes = kafkaErrorCodes.map(([code]) => code)
const resent = [51, 14, 15, 16]
const fenced = [47, 48, 49, 90]

describe('what an answer to EndTxn decides (R3)', () => {
  test('there are codes to decide about', () => {
    expect(codes.length).toBeGreaterThan(100)
  })

  test.each(codes)('code %d, nothing earlier', (code) => {
    const expected =
      code === 0 ? 'ended' : resent.includes(code) ? 'resend' : fenced.includes(code) ? 'not-committed' : 'unknown'
    expect(decideEnd(code, 'none')).toBe(expected)
  })

  test.each(codes)(
    'code %d, after a transmission that may have been applied: a fenced answer proves nothing',
    (code) => {
      const expected = code === 0 ? 'ended' : resent.includes(code) ? 'resend' : 'unknown'
      expect(decideEnd(code, 'perhaps')).toBe(expected)
    },
  )

  test.each(codes)('code %d is remembered as possibly applied, unless the coordinator was still loading', (code) => {
    expect(rememberEnd(code, 'none')).toBe(code === 14 ? 'none' : 'perhaps')
    expect(rememberEnd(code, 'perhaps')).toBe('perhaps')
  })

  test('a code that no Kafka has is unknown', () => {
    expect(decideEnd(9_999, 'none')).toBe('unknown')
  })
})
