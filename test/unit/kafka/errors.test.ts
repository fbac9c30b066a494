import { describe, expect, test } from 'vitest'
import { kafkaErrorCodes } from '../../../lib/kafka/error-codes.ts'
import { classify, kafkaErrorName, type Operation, operations, type Verdict } from '../../../lib/kafka/errors.ts'

const codes = kafkaErrorCodes.map(([code]) => code)
const verdictOf = (operation: Operation, code: number): string => {
  const { verdict, relocate } = classify(operation, code)
  return relocate ? `${verdict} elsewhere` : verdict
}
const codesWith = (operation: Operation, ...verdicts: readonly Verdict[]) =>
  codes.filter((code) => verdicts.includes(classify(operation, code).verdict))

test('Kafka 4.1 has codes -1 to 133, each listed once', () => {
  expect(codes).toEqual(Array.from({ length: 135 }, (_, index) => index - 1))
})

test('codes are named for people; unknown ones too', () => {
  expect(kafkaErrorName(16)).toBe('NOT_COORDINATOR (16)')
  expect(kafkaErrorName(999)).toBe('UNKNOWN (999)')
})

describe.each(operations)('%s', (operation) => {
  test('gives every code one verdict, and only 0 means yes', () => {
    for (const code of codes) expect(classify(operation, code).verdict).toBeTypeOf('string')
    expect(codesWith(operation, 'ok')).toEqual([0])
  })

  test('takes a code that is not known for poison', () => {
    for (const code of [134, 999, -2]) expect(verdictOf(operation, code)).toBe('poison')
  })
})

const inTransaction = ['AddPartitionsToTxn', 'AddOffsetsToTxn', 'Produce', 'TxnOffsetCommit', 'EndTxn'] as const

describe.each(inTransaction)('%s, a part of a transaction', (operation) => {
  test('47, 48, 49 and 90 end the session for good (R2)', () => {
    expect(codesWith(operation, 'fenced')).toEqual([47, 48, 49, 90])
  })

  test('51 and 14 are asked again (R2, R3)', () => {
    expect(codesWith(operation, 'wait').filter((code) => code === 51 || code === 14)).toEqual([14, 51])
  })

  test('45, 46, 59 and 120 are never success: they poison', () => {
    for (const code of [45, 46, 59, 120, -1]) expect(verdictOf(operation, code)).toBe('poison')
  })
})

describe('EndTxn (R3)', () => {
  test('is sent again on 51, 14, 15 and 16 only; the coordinator is looked up anew on 15 and 16', () => {
    expect(codesWith('EndTxn', 'wait', 'resend')).toEqual([14, 15, 16, 51])
    expect([14, 15, 16, 51].map((code) => verdictOf('EndTxn', code))).toEqual([
      'wait',
      'resend elsewhere',
      'resend elsewhere',
      'wait',
    ])
  })

  test('everything else leaves the outcome unknown, 7 and a missing permission too', () => {
    const decided = [0, 14, 15, 16, 47, 48, 49, 51, 90]
    for (const code of codes.filter((each) => !decided.includes(each))) expect(verdictOf('EndTxn', code)).toBe('poison')
  })
})

describe('Produce', () => {
  test('refuses records for good on 10, 18, 32 and 87 and on nothing else', () => {
    expect(codesWith('Produce', 'refused')).toEqual([10, 18, 32, 87])
  })

  test('sends the same bytes again to the new leader', () => {
    for (const code of [5, 6, 9, 13, 56, 74]) expect(verdictOf('Produce', code)).toBe('resend elsewhere')
  })

  test('sends the same bytes again to the same leader when replicas or time are short', () => {
    for (const code of [2, 7, 19, 20]) expect(verdictOf('Produce', code)).toBe('resend')
  })
})

test('records are refused by Produce alone', () => {
  for (const operation of operations.filter((each) => each !== 'Produce'))
    expect(codesWith(operation, 'refused')).toEqual([])
})

describe('pinned answers of real brokers', () => {
  test.each<[Operation, number, string]>([
    ['InitProducerId', 51, 'wait'],
    ['InitProducerId', 14, 'wait'],
    ['InitProducerId', 15, 'resend elsewhere'],
    ['InitProducerId', 16, 'resend elsewhere'],
    ['InitProducerId', 50, 'config'],
    ['InitProducerId', 53, 'denied'],
    ['InitProducerId', 90, 'fenced'],
    ['InitProducerId', 47, 'fenced'],
    ['InitProducerId', -1, 'poison'],
    ['OffsetFetch', 88, 'wait'],
    ['OffsetFetch', 14, 'wait'],
    ['OffsetFetch', 16, 'resend elsewhere'],
    ['OffsetFetch', 30, 'denied'],
    ['ListOffsets', 78, 'wait'],
    ['ListOffsets', 74, 'resend elsewhere'],
    ['ListOffsets', 75, 'resend'],
    ['ListOffsets', 6, 'resend elsewhere'],
    ['Fetch', 1, 'range'],
    ['Fetch', 3, 'missing elsewhere'],
    ['Fetch', 100, 'missing elsewhere'],
    ['Fetch', 103, 'resend elsewhere'],
    ['Fetch', 29, 'denied'],
    ['TxnOffsetCommit', 3, 'missing elsewhere'],
    ['TxnOffsetCommit', 16, 'resend elsewhere'],
    ['TxnOffsetCommit', 12, 'poison'],
    ['AddPartitionsToTxn', 3, 'missing elsewhere'],
    ['AddPartitionsToTxn', 55, 'resend'],
    ['AddOffsetsToTxn', 30, 'denied'],
    ['Metadata', 5, 'resend elsewhere'],
    ['Metadata', 17, 'config'],
    ['FindCoordinator', 15, 'wait'],
    ['FindCoordinator', 53, 'denied'],
    ['Produce', 51, 'wait'],
    ['Produce', 3, 'missing elsewhere'],
    ['Produce', 29, 'denied'],
  ])('%s %i means %s', (operation, code, wanted) => {
    expect(verdictOf(operation, code)).toBe(wanted)
  })
})
