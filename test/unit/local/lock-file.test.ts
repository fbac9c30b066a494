import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFile } from '../../../lib/local/lock-file.ts'

let dir: string
let file: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-lock-'))
  file = join(dir, 'lock')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const lock = () => lockFile(file, 'The stack', 'Stop it.')

test('a second taker is refused with the pid of the first and with the fix', async () => {
  await lock()
  await expect(lock()).rejects.toThrow(`The stack is in use by process ${process.pid}. Stop it.`)
})

test('it is free again after release, and nothing is left in the directory', async () => {
  await (await lock()).release()
  expect(await readdir(dir)).toEqual([])
  await (await lock()).release()
})

test('the lock of a dead process is taken over', async () => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  await writeFile(file, JSON.stringify({ pid, startedAt: '1' }))
  await (await lock()).release()
})

test('the lock of a dead process whose pid was given to another one is taken over', async () => {
  await writeFile(file, JSON.stringify({ pid: process.pid, startedAt: '1' }))
  await (await lock()).release()
})

test('a lock file that is no lock is taken over', async () => {
  await writeFile(file, 'not json')
  await (await lock()).release()
})

test('of many takers of a stale lock exactly one gets it', async () => {
  await writeFile(file, JSON.stringify({ pid: process.pid, startedAt: '1' }))
  const takers = await Promise.allSettled(Array.from({ length: 8 }, lock))
  expect(takers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('releasing a lock that somebody else has taken over leaves it alone', async () => {
  const mine = await lock()
  const theirs = JSON.stringify({ pid: process.ppid, startedAt: null })
  await writeFile(file, theirs)
  await mine.release()
  await expect(lock()).rejects.toThrow(`process ${process.ppid}`)
})
