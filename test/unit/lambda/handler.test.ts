import type { Context } from 'aws-lambda'
import { expect, onTestFinished, test, vi } from 'vitest'
import { RelayError } from '../../../lib/errors.ts'
import type { Container } from '../../../lib/lambda/container.ts'
import { lambdaHandler } from '../../../lib/lambda/handler.ts'
import { relayTelemetry } from '../../../lib/lambda/telemetry.ts'

const context = { functionName: 'shop-prod-delays', awsRequestId: 'request-1', memoryLimitInMB: '512' } as Context

/** Lines that an invocation leaves in the log. */
async function linesOf(handle: (container: Pick<Container, 'logger' | 'metrics'>) => Promise<unknown>) {
  const written: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0)
    onTestFinished(() => spy.mockRestore())
  }
  const telemetry = relayTelemetry({ name: 'delays' }, { FENCEPOST_PREFIX: 'shop-prod' })
  const container = { ...telemetry, ready: () => Promise.reject(new Error('not needed')) }
  const end = await lambdaHandler(container, () => handle(telemetry))({}, context).catch((error: unknown) => error)
  return { end, lines: written.join('').split('\n').filter(Boolean) }
}

test('an invocation that found nothing to do leaves no line', async () => {
  expect(await linesOf(async () => 'nothing')).toEqual({ end: 'nothing', lines: [] })
})

test('metrics are flushed, also when the invocation fails', async () => {
  const { lines } = await linesOf(async ({ metrics }) => {
    metrics.addMetric('NoopBells', 'Count', 1)
    throw new Error('no')
  })
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ NoopBells: 1 }))
})

test('what an invocation fails with is logged with its cause, which Lambda leaves out, and without what hangs on it', async () => {
  const request = { headers: { authorization: 'hunter2' } }
  const cause = Object.assign(new TypeError('price of undefined'), { request })
  const error = new RelayError('SETUP_FAILED', cause.message, { cause })
  const { end, lines } = await linesOf(() => Promise.reject(error))
  expect(end).toBe(error)
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'ERROR',
    message: 'invocation failed',
    function_request_id: 'request-1',
    stack: expect.stringMatching(/^RelayError: SETUP_FAILED: .*\ncaused by TypeError: price of undefined\n *at /s),
  })
  expect(lines[0]).not.toContain('hunter2')
})
