import { describe, expect, test } from 'vitest'
import { fenceStoreError, noTime } from '../../../lib/fencing/dynamodb-errors.ts'

const at = { table: 'fences', place: 'eu-west-1' }
const sdkError = (name: string, attempts: number, httpStatusCode?: number, code?: string) =>
  Object.assign(new Error('said so'), { name, code, $metadata: { attempts, httpStatusCode } })

describe('what a failed request to the fence table means', () => {
  test.each([
    ['ProvisionedThroughputExceededException', 400, 'FENCE_STORE_THROTTLED', /on-demand or raise its capacity/],
    ['ThrottlingException', 400, 'FENCE_STORE_THROTTLED', /on-demand/],
    ['ResourceNotFoundException', 400, 'FENCE_TABLE_MISSING', /does not exist: .*; deploy it/],
    ['AccessDeniedException', 400, 'FENCE_TABLE_MISSING', /allow dynamodb:GetItem, UpdateItem and Scan/],
    ['UnrecognizedClientException', 400, 'FENCE_TABLE_MISSING', /may not be used/],
    ['ValidationException', 400, 'FENCE_TABLE_MISSING', /only key is id/],
    ['InternalServerError', 500, 'FENCE_STORE_UNAVAILABLE', /check the network path/],
    ['TimeoutError', undefined, 'FENCE_STORE_UNAVAILABLE', /gave no answer: write, 1 attempts, TimeoutError/],
  ])('%s', (name, status, code, message) => {
    const error = fenceStoreError(sdkError(name, 1, status), at, 'write')
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
    expect(error.message).toContain('fence table fences (eu-west-1)')
  })

  test.each([
    ['refused at the first transmission', sdkError('ThrottlingException', 1, 400), 'not-applied'],
    ['never sent', sdkError('Error', 1, undefined, 'ECONNREFUSED'), 'not-applied'],
    ['without credentials to send it', sdkError('CredentialsProviderError', 1), 'not-applied'],
    ['refused after a transmission that was not answered', sdkError('ThrottlingException', 2, 400), 'unknown'],
    ['not sent after a transmission that was not answered', sdkError('Error', 2, undefined, 'ECONNREFUSED'), 'unknown'],
    ['answered with a server error', sdkError('InternalServerError', 1, 500), 'unknown'],
    ['cut', sdkError('Error', 1, undefined, 'ECONNRESET'), 'unknown'],
    ['given up at the deadline', Object.assign(new Error('aborted'), { name: 'AbortError' }), 'unknown'],
  ])('a write that was %s: %s', (_, thrown, outcome) => {
    expect(fenceStoreError(thrown, at, 'write').outcome).toBe(outcome)
  })

  test('a read changes nothing, whatever happened to it', () => {
    expect(fenceStoreError(sdkError('TimeoutError', 3), at, 'read').outcome).toBe('not-applied')
  })

  test('the cause is kept', () => {
    const cause = sdkError('TimeoutError', 1)
    expect(fenceStoreError(cause, at, 'read').cause).toBe(cause)
  })

  test('no time left is no silence of the table: nothing was sent', () => {
    expect(noTime(at, 'write')).toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE', outcome: 'not-applied' })
  })
})
