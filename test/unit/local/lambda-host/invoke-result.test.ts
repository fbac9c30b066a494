import { describe, expect, test } from 'vitest'
import {
  errorOf,
  type InvocationEnd,
  payloadBytesMax,
  reportLine,
  resultOf,
  throttled,
  tooLarge,
} from '../../../../lib/local/lambda-host/invoke-result.ts'

const report = {
  requestId: 'r-1',
  containerId: 'c-1',
  cold: false,
  initDurationMs: null,
  durationMs: 12,
  billedDurationMs: 12,
  maxMemoryUsedBytes: 1,
  logTail: '',
}

describe('how an invocation ends is told in the words of Lambda', () => {
  test.each<[string, InvocationEnd, string, string]>([
    [
      'timeout',
      { kind: 'timed-out', timeoutMs: 3000 },
      'Sandbox.Timedout',
      'RequestId: r-1 Error: Task timed out after 3.00 seconds',
    ],
    [
      'memory',
      { kind: 'out-of-memory' },
      'Runtime.OutOfMemory',
      'RequestId: r-1 Error: Runtime exited with error: signal: killed',
    ],
    [
      'SIGKILL',
      { kind: 'exited', code: null, signal: 'SIGKILL' },
      'Runtime.ExitError',
      'RequestId: r-1 Error: Runtime exited with error: signal: killed',
    ],
    [
      'heap exhausted',
      { kind: 'exited', code: null, signal: 'SIGABRT' },
      'Runtime.ExitError',
      'RequestId: r-1 Error: Runtime exited with error: signal: aborted',
    ],
    [
      'exit 1',
      { kind: 'exited', code: 1, signal: null },
      'Runtime.ExitError',
      'RequestId: r-1 Error: Runtime exited with error: exit status 1',
    ],
    [
      'exit 0',
      { kind: 'exited', code: 0, signal: null },
      'Runtime.ExitError',
      'RequestId: r-1 Error: Runtime exited without providing a reason',
    ],
  ])('%s', (_, end, errorType, errorMessage) => {
    expect(resultOf(end, report)).toMatchObject({
      status: 'error',
      statusCode: 200,
      functionError: 'Unhandled',
      payload: { errorType, errorMessage },
      requestId: 'r-1',
    })
  })

  test("a function's own error is passed on unchanged", () => {
    const error = { errorType: 'TypeError', errorMessage: 'boom', trace: ['TypeError: boom'] }
    expect(resultOf({ kind: 'failed', error }, report)).toMatchObject({ status: 'error', payload: error })
  })

  test('an answer is parsed; an empty one is null', () => {
    expect(resultOf({ kind: 'answered', body: Buffer.from('{"a":1}') }, report)).toMatchObject({ payload: { a: 1 } })
    expect(resultOf({ kind: 'answered', body: Buffer.alloc(0) }, report)).toMatchObject({
      status: 'success',
      payload: null,
    })
  })

  test('an answer of exactly 6 MB passes, one byte more does not', () => {
    const answered = (bytes: number) => errorOf({ kind: 'answered', body: Buffer.alloc(bytes, '0') }, 'r-1')
    expect(answered(payloadBytesMax)).toBeNull()
    expect(answered(payloadBytesMax + 1)).toMatchObject({ errorType: 'Function.ResponseSizeTooLarge' })
  })
})

test('refusals say that no code ran, and name the limit', () => {
  expect(throttled('r-1', 'relay', 4)).toMatchObject({
    status: 'refused',
    statusCode: 429,
    payload: { errorType: 'TooManyRequestsException', errorMessage: expect.stringContaining('4') },
  })
  expect(tooLarge('r-1', 7_000_000)).toMatchObject({
    status: 'refused',
    statusCode: 413,
    payload: { errorMessage: expect.stringContaining('7000000 byte payload is too large') },
  })
})

test('the REPORT line bills initialisation with the invocation that caused it', () => {
  const warm = { requestId: 'r-1', durationMs: 12, initDurationMs: null, maxMemoryUsedBytes: 60 * 1024 * 1024 + 1 }
  expect(reportLine(warm, 512)).toBe(
    'REPORT RequestId: r-1\tDuration: 12 ms\tBilled Duration: 12 ms\tMemory Size: 512 MB\tMax Memory Used: 61 MB',
  )
  expect(reportLine({ ...warm, initDurationMs: 100 }, 512)).toMatch(/Billed Duration: 112 ms.*Init Duration: 100 ms$/)
})
