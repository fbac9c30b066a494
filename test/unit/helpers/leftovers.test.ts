import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { leftoversOf, runMarker, untilNothingLeft } from '../../helpers/leftovers.ts'

const idle = 'setInterval(() => {}, 1000)'

test('a process that a test left behind is named with its pid, and gone when it is gone', async () => {
  const runId = crypto.randomUUID()
  const child = spawn(process.execPath, ['-e', idle], { env: { ...process.env, [runMarker]: runId }, stdio: 'ignore' })
  await once(child, 'spawn')
  expect(leftoversOf(runId, 1).map(({ pid }) => pid)).toEqual([child.pid])
  expect(leftoversOf(runId, process.pid)).toEqual([])
  expect(leftoversOf(crypto.randomUUID(), 1)).toEqual([])
  child.kill('SIGKILL')
  await once(child, 'exit')
  await untilNothingLeft(runId, systemClock, 0)
})

test('the marker of a run reaches the processes that its children start', async () => {
  const orphanId = crypto.randomUUID()
  const script = `const c = require('node:child_process').spawn(process.execPath, ['-e', '${idle}'],
    { detached: true, stdio: 'ignore' }); c.once('spawn', () => { console.log(c.pid); c.unref() })`
  const parent = spawn(process.execPath, ['-e', script], {
    env: { ...process.env, [runMarker]: orphanId },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer]
  const orphanPid = Number(printed.toString())
  try {
    const noWait = untilNothingLeft(orphanId, systemClock, 0)
    await expect(noWait).rejects.toThrow(String(orphanPid))
  } finally {
    process.kill(orphanPid, 'SIGKILL')
  }
})
