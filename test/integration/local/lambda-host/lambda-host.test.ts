import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InvokeResult } from '../../../../lib/local/lambda-host/invoke-result.ts'
import { eventually, type TestFunctions, testFunctions } from '../../../helpers/lambda-functions.ts'

let functions: TestFunctions

beforeAll(async () => {
  functions = await testFunctions()
})
afterAll(() => functions.stop())

const containersOf = (name: string) => functions.host.containers().filter((one) => one.functionName === name)
const untilBusy = (name: string) =>
  eventually(`${name} is busy`, () => containersOf(name).some(({ state }) => state === 'busy'))

function payloadOf(result: InvokeResult): Record<string, unknown> {
  expect(result.status, JSON.stringify(result.payload)).toBe('success')
  return result.payload as Record<string, unknown>
}

describe('what the function sees', () => {
  test('the event, and the context and environment that Lambda gives', async () => {
    await functions.deploy(
      'context',
      `export const handler = async (event, { getRemainingTimeInMillis, ...context }) =>
        ({ event, context, remaining: getRemainingTimeInMillis(), env: process.env, node: process.version, cwd: process.cwd() })`,
      { memoryMb: 256, timeoutMs: 5_000, env: { MINE: 'yes' } },
    )
    const result = await functions.host.invoke('context', { hello: ['wörld', null] })
    const seen = payloadOf(result)
    expect(seen).toMatchObject({
      event: { hello: ['wörld', null] },
      node: process.version,
      context: {
        awsRequestId: result.requestId,
        functionName: 'context',
        functionVersion: '$LATEST',
        memoryLimitInMB: '256',
        invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:context',
        logGroupName: '/aws/lambda/context',
      },
      env: { MINE: 'yes', AWS_LAMBDA_FUNCTION_NAME: 'context', AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x', TZ: ':UTC' },
    })
    expect(seen.remaining).toBeGreaterThan(4_000)
    expect(seen.remaining).toBeLessThanOrEqual(5_000)
  })

  test('a TypeScript entry is bundled with its packages, CommonJS ones included', async () => {
    const { host } = functions
    const entry = new URL('../../../helpers/bundled-function.ts', import.meta.url).pathname
    await host.deploy({ name: 'bundled', code: { entry }, handler: 'bundled-function.handler' })
    expect(payloadOf(await host.invoke('bundled', {}))).toEqual({ kafkajs: 'function', args: 3 })
    await host.deploy({ name: 'bundled', code: { entry }, handler: 'bundled-function.missing' })
    expect(await host.invoke('bundled', {})).toMatchObject({ payload: { errorType: 'Runtime.HandlerNotFound' } })
  })
})

describe('what the caller gets', () => {
  test("a handler's error with its type, message and stack", async () => {
    await functions.deploy('throws', `export const handler = async () => { throw new RangeError('too far') }`)
    const result = await functions.host.invoke('throws', {})
    expect(result).toMatchObject({
      status: 'error',
      functionError: 'Unhandled',
      payload: { errorType: 'RangeError', errorMessage: 'too far' },
    })
    expect(result).toMatchObject({ payload: { trace: expect.arrayContaining(['RangeError: too far']) } })
    await functions.host.invoke('throws', {})
    expect(containersOf('throws')).toMatchObject([{ invocations: 2 }])
  })

  test('an error that nobody catches ends the container and names itself', async () => {
    await functions.deploy(
      'rejects',
      `export const handler = () => { Promise.reject(new Error('forgotten')); return new Promise(() => {}) }`,
    )
    expect(await functions.host.invoke('rejects', {})).toMatchObject({
      payload: { errorType: 'Runtime.UnhandledPromiseRejection', errorMessage: 'forgotten' },
    })
    await eventually('it is gone', () => containersOf('rejects').length === 0)
  })

  test('logs of just this invocation between START and REPORT, whole lines in Lambda format', async () => {
    await functions.deploy(
      'logs',
      `export const handler = async (n) => { console.log('line', n); console.warn('two\\nrows') }`,
    )
    await functions.host.invoke('logs', 1)
    const result = await functions.host.invoke('logs', 2)
    const id = result.requestId
    const lines = (result.status === 'success' ? result.logTail : '').trimEnd().split('\n')
    expect(lines).toEqual([
      `START RequestId: ${id} Version: $LATEST`,
      expect.stringMatching(new RegExp(`^\\d{4}-.*Z\\t${id}\\tINFO\\tline 2$`)),
      expect.stringMatching(new RegExp(`\\t${id}\\tWARN\\ttwo\\rrows$`)),
      `END RequestId: ${id}`,
      expect.stringMatching(/^REPORT .*Memory Size: 512 MB\tMax Memory Used: \d\d+ MB$/),
    ])
    const log = readFileSync(containersOf('logs')[0]?.logFile ?? '', 'utf8')
    expect(log).toContain('line 1')
  })

  test('a payload above 6 MB is refused before any code runs, an answer above it is an error', async () => {
    await functions.deploy('large', `export const handler = async ({ size }) => 'x'.repeat(size)`)
    expect(await functions.host.invoke('large', { padding: 'x'.repeat(6 * 1024 * 1024) })).toMatchObject({
      statusCode: 413,
    })
    expect(containersOf('large')).toEqual([])
    expect(await functions.host.invoke('large', { size: 6 * 1024 * 1024 })).toMatchObject({
      payload: { errorType: 'Function.ResponseSizeTooLarge' },
    })
    expect(await functions.host.invoke('large', { size: 6 * 1024 * 1024 - 2 })).toMatchObject({ status: 'success' })
  })

  test('a function that was never deployed is a mistake of the caller, by name', async () => {
    await expect(functions.host.invoke('nobody', {})).rejects.toThrow("No function 'nobody' is deployed")
  })
})

describe('containers', () => {
  const counting = `let n = 0; export const handler = async () => ({ n: ++n, pid: process.pid })`

  test('one is reused while it is free, module state included; only the first invocation is cold', async () => {
    await functions.deploy('counting', counting)
    const first = await functions.host.invoke('counting', {})
    const second = await functions.host.invoke('counting', {})
    expect(first).toMatchObject({ cold: true, payload: { n: 1 }, initDurationMs: expect.any(Number) })
    expect(second).toMatchObject({ cold: false, payload: { n: 2 }, initDurationMs: null })
    expect(containersOf('counting')).toMatchObject([{ state: 'frozen', invocations: 2 }])
  })

  test('between invocations no timer fires', async () => {
    const source = `
      let setAt = 0, firedAt = 0
      export const handler = async ({ set }) => {
        if (set) { setAt = Date.now(); setTimeout(() => { firedAt = Date.now() }, 600); return }
        await new Promise((resolve) => setTimeout(resolve, 700))
        return { setAt, firedAt }
      }`
    await functions.deploy('timer', source)
    await functions.deploy('slow', `export const handler = () => new Promise((resolve) => setTimeout(resolve, 800))`)
    await functions.host.invoke('timer', { set: true })
    await functions.host.invoke('slow', {})
    const thawedAt = Date.now()
    const { setAt, firedAt } = payloadOf(await functions.host.invoke('timer', {}))
    expect(thawedAt - Number(setAt)).toBeGreaterThanOrEqual(800)
    expect(firedAt).toBeGreaterThanOrEqual(thawedAt)
  })

  test('hopping gives each invocation to another container than the last one', async () => {
    await functions.deploy('hopping', counting, { hop: true })
    const pids: unknown[] = []
    for (let i = 0; i < 6; i++) pids.push(payloadOf(await functions.host.invoke('hopping', {})).pid)
    expect(new Set(pids).size).toBe(2)
    for (let i = 1; i < 6; i++) expect(pids[i]).not.toBe(pids[i - 1])
  })

  test('warming starts as many as wanted, and the next invocation is not cold', async () => {
    await functions.deploy('warmed', counting)
    await functions.host.warm('warmed', 2)
    expect(containersOf('warmed')).toMatchObject([{ state: 'frozen' }, { state: 'frozen' }])
    expect(await functions.host.invoke('warmed', {})).toMatchObject({ cold: false })
  })

  test('above the concurrency limit nothing runs and the caller hears 429', async () => {
    await functions.deploy('limited', `export const handler = () => new Promise(() => setInterval(() => {}, 1000))`, {
      maxConcurrency: 2,
      timeoutMs: 1_000,
    })
    const running = [functions.host.invoke('limited', {}), functions.host.invoke('limited', {})]
    expect(await functions.host.invoke('limited', {})).toMatchObject({ status: 'refused', statusCode: 429 })
    expect(await Promise.all(running)).toMatchObject([{ status: 'error' }, { status: 'error' }])
    const afterwards = functions.host.invoke('limited', {})
    await untilBusy('limited')
    expect(await afterwards).toMatchObject({ status: 'error' })
  })

  test('a new deploy is used at once; a container of the old one finishes its work and is never used again', async () => {
    await functions.deploy(
      'replaced',
      `export const handler = () => new Promise((resolve) => setTimeout(() => resolve('old'), 150))`,
    )
    const old = functions.host.invoke('replaced', {})
    await untilBusy('replaced')
    await functions.deploy('replaced', `export const handler = async () => 'new'`)
    expect(await functions.host.invoke('replaced', {})).toMatchObject({ payload: 'new' })
    expect(await old).toMatchObject({ status: 'success', payload: 'old' })
    expect(containersOf('replaced')).toMatchObject([{ generation: 2, state: 'frozen' }])
  })
})
