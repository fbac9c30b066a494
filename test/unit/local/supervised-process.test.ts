import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startSupervised, stopSupervised } from '../../../lib/local/supervised-process.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-supervised-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

const node = (script: string) =>
  startSupervised({ command: process.execPath, args: ['-e', script], logFile: join(dir, 'log') })

test('what the child prints is in its log, and its exit code is told', async () => {
  const child = await node('console.log("out"); console.error("err"); process.exitCode = 3')
  expect(await child.exited()).toEqual({ code: 3, signal: null })
  expect(child.running).toBe(false)
  expect(await readFile(join(dir, 'log'), 'utf8')).toMatch(/out\nerr\n$/)
})

test('a command that does not exist is a failed start, not a hang', async () => {
  const start = startSupervised({ command: join(dir, 'nothing'), args: [], logFile: join(dir, 'log') })
  await expect(start).rejects.toThrow(/LOCAL_STACK: A process did not start: .*ENOENT/)
})

test('stop ends a child by SIGTERM', async () => {
  const child = await node('setInterval(() => {}, 1000)')
  expect(await stopSupervised(child, 10_000)).toEqual({ code: null, signal: 'SIGTERM' })
})

test('stop ends a child that is frozen', async () => {
  const child = await node('setInterval(() => {}, 1000)')
  child.signal('SIGSTOP')
  expect(await stopSupervised(child, 10_000)).toEqual({ code: null, signal: 'SIGTERM' })
})

test('stop ends a child that ignores SIGTERM by SIGKILL when its grace is over', async () => {
  const child = await node('process.on("SIGTERM", () => {}); console.log("deaf"); setInterval(() => {}, 1000)')
  await vi.waitFor(async () => expect(await readFile(join(dir, 'log'), 'utf8')).toContain('deaf'))
  expect(await stopSupervised(child, 100)).toEqual({ code: null, signal: 'SIGKILL' })
})
