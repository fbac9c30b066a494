import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, isAlive, type TestFunctions, testFunctions } from '../../../helpers/lambda-functions.ts'

let functions: TestFunctions

beforeAll(async () => {
  functions = await testFunctions()
})
afterAll(() => functions.stop())

const hanging = `export const handler = async (event) => event?.hang ? new Promise(() => setInterval(() => {}, 1000)) : process.pid`
const containersOf = (name: string) => functions.host.containers().filter((one) => one.functionName === name)

async function busyContainer(name: string) {
  const busy = () => containersOf(name).find(({ state }) => state === 'busy')
  await eventually(`${name} is busy`, () => busy() !== undefined)
  return busy() ?? { id: '', pid: 0 }
}

describe('limits', () => {
  test('at its timeout the container is killed, whatever it does, and the next invocation is cold', async () => {
    await functions.deploy('spinning', `export const handler = () => { for (;;); }`, { timeoutMs: 300 })
    const result = await functions.host.invoke('spinning', {})
    expect(result).toMatchObject({
      status: 'error',
      payload: {
        errorType: 'Sandbox.Timedout',
        errorMessage: `RequestId: ${result.requestId} Error: Task timed out after 0.30 seconds`,
      },
    })
    expect(result.status === 'error' && result.durationMs).toBeGreaterThanOrEqual(300)
    expect(containersOf('spinning')).toEqual([])
    expect(await functions.host.invoke('spinning', {})).toMatchObject({ cold: true })
  })

  test('above its memory the container is killed', async () => {
    const source = `const held = []
      export const handler = async () => { for (;;) { held.push(Buffer.alloc(8 << 20, 1)); await new Promise(setImmediate) } }`
    await functions.deploy('hungry', source, { memoryMb: 128 })
    const result = await functions.host.invoke('hungry', {})
    expect(result).toMatchObject({ payload: { errorType: 'Runtime.OutOfMemory' } })
    expect(result.status === 'error' && result.maxMemoryUsedBytes).toBeGreaterThan(128 * 1024 * 1024)
    expect(containersOf('hungry')).toEqual([])
  })

  test('a function that exits by itself is a Runtime.ExitError with its status', async () => {
    await functions.deploy('exiting', `export const handler = ({ code }) => process.exit(code)`)
    for (const [code, text] of [
      [0, 'without providing a reason'],
      [7, 'exit status 7'],
    ] as const) {
      const result = await functions.host.invoke('exiting', { code })
      expect(result).toMatchObject({
        payload: { errorType: 'Runtime.ExitError', errorMessage: expect.stringContaining(text) },
      })
    }
  })

  test.each([
    ['that cannot be loaded', `import './absent.mjs'`, 'ERR_MODULE_NOT_FOUND'],
    ['that throws while loading', `throw new Error('no broker')`, 'no broker'],
    ['that exits while loading', `process.exit(4)`, 'exit status 4'],
    ['without the export', `export const other = 1`, 'main.handler is undefined or not exported'],
  ])('a module %s fails each invocation with the reason, cold every time', async (_, source, reason) => {
    const name = `broken-${reason.replace(/\W/g, '').slice(0, 20)}`
    await functions.deploy(name, source)
    const result = await functions.host.invoke(name, {})
    expect(result).toMatchObject({ status: 'error', cold: true })
    expect(JSON.stringify(result)).toContain(reason)
    await expect(functions.host.warm(name, 1)).rejects.toThrow('LOCAL_STACK')
    expect(containersOf(name)).toEqual([])
  })
})

test('a handler that waits for what nothing can settle ends at once, and the log says why', async () => {
  await functions.deploy('unsettled', `export const handler = () => new Promise(() => {})`)
  const result = await functions.host.invoke('unsettled', {})
  expect(result).toMatchObject({
    payload: { errorType: 'Runtime.ExitError', errorMessage: expect.stringContaining('exit status 13') },
    logTail: expect.stringContaining('Runtime.NodeJsExit: the handler waits for a promise that nothing can settle'),
  })
})

describe('chaos', () => {
  test('SIGKILL in mid-invocation surfaces as Runtime.ExitError to the caller', async () => {
    await functions.deploy('killed', hanging)
    const result = functions.host.invoke('killed', { hang: true })
    const { id, pid } = await busyContainer('killed')
    expect(functions.host.kill(id, 'SIGKILL')).toBe(true)
    expect(await result).toMatchObject({
      payload: { errorType: 'Runtime.ExitError', errorMessage: expect.stringContaining('signal: killed') },
    })
    expect(isAlive(pid)).toBe(false)
    expect(functions.host.kill(id, 'SIGKILL')).toBe(false)
  })

  test('a container that is killed while frozen costs no invocation', async () => {
    await functions.deploy('asleep', hanging)
    await functions.host.warm('asleep', 1)
    const [frozen] = containersOf('asleep')
    functions.host.kill(frozen?.id ?? '', 'SIGKILL')
    expect(await functions.host.invoke('asleep', {})).toMatchObject({ status: 'success', cold: true })
  })

  test('a container stopped in mid-invocation runs into its timeout', async () => {
    await functions.deploy('stopped', hanging, { timeoutMs: 2_000 })
    const result = functions.host.invoke('stopped', { hang: true })
    const { id, pid } = await busyContainer('stopped')
    functions.host.kill(id, 'SIGSTOP')
    expect(await result).toMatchObject({ payload: { errorType: 'Sandbox.Timedout' } })
    expect(isAlive(pid)).toBe(false)
  })

  test('stopping the host ends what runs and leaves no process', async () => {
    const own = await testFunctions()
    await own.deploy('f', hanging)
    await own.host.warm('f', 2)
    const running = own.host.invoke('f', { hang: true })
    await eventually('busy', () => own.host.containers().some(({ state }) => state === 'busy'))
    const starting = expect(own.host.warm('f', 3)).rejects.toThrow('LOCAL_STACK')
    const pids = own.host.containers().map(({ pid }) => pid)
    await own.stop()
    expect(await running).toMatchObject({ payload: { errorType: 'Runtime.ExitError' } })
    await starting
    expect(pids.filter((pid) => pid > 0 && isAlive(pid))).toEqual([])
  })

  test('when the host is killed by SIGKILL, neither busy nor frozen containers survive', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'fencepost-orphans-'))
    await writeFile(
      join(dir, 'main.mjs'),
      `export const handler = () => { setInterval(() => {}, 1000); return new Promise(() => {}) }`,
    )
    const helper = new URL('../../../helpers/lambda-parent.ts', import.meta.url).pathname
    const parent = spawn(process.execPath, [helper, dir, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(createInterface({ input: parent.stdout }), 'line')
    const containers: { pid: number; state: string }[] = JSON.parse(line)
    expect(containers.map(({ state }) => state).sort()).toEqual(['busy', 'frozen'])
    expect(containers.every(({ pid }) => isAlive(pid))).toBe(true)
    parent.kill('SIGKILL')
    await eventually('all containers are gone', () => !containers.some(({ pid }) => isAlive(pid)))
    await rm(dir, { recursive: true, force: true })
  })
})
