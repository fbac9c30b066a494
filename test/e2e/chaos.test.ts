import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import type { ChaosResult } from '../../lib/local/chaos/result.ts'
import { type CliRun, runCliProcess } from '../helpers/cli.ts'
import { runMarker, untilNothingLeft } from '../helpers/leftovers.ts'

let dir: string
let runId: string
let run: CliRun | undefined
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-chaos-'))
  runId = crypto.randomUUID()
})
afterEach(async () => {
  run?.child.kill('SIGKILL')
  await run?.ended
  await untilNothingLeft(runId, systemClock, 10_000)
  await rm(dir, { recursive: true, force: true })
})

const environment = () => ({ ...process.env, [runMarker]: runId })
const resultOf = (stdout: string): ChaosResult => JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ChaosResult

test('functions killed and thawed after a takeover, answers and commits lost, the table away: nothing is lost or doubled, and a reader of Kafka agrees', {
  timeout: 180_000,
}, async () => {
  const faults = ['kill-function', 'pause-function', 'random-aborts', 'dynamodb-lost-reply', 'delay']
  const options = ['--for', '15s', '--every', '3s', '--rate', '200', '--seed', '4', '--faults', faults.join(',')]
  run = runCliProcess(['chaos', '--json', '--dir', dir, ...options], environment())
  const { code, stdout, stderr } = await run.ended
  const { faultsFired, kills, windows, records, ...proof } = resultOf(stdout)
  expect(proof, stderr).toMatchObject({
    ok: true,
    lost: 0,
    duplicated: 0,
    outOfOrder: 0,
    abortedSeen: 0,
    openTransactions: 0,
    lag: 0,
    readerAgreed: true,
  })
  expect(code).toBe(0)
  for (const fault of faults) expect(faultsFired[fault], fault).toBeGreaterThanOrEqual(1)
  expect(kills).toBeGreaterThanOrEqual(1)
  expect(windows).toBeGreaterThanOrEqual(4)
  expect(records).toBeGreaterThanOrEqual(2_000)
  expect(stderr).toMatch(/thawed after lane chaos\.numbered\.numbered\.\d was taken over/)
  await untilNothingLeft(runId, systemClock, 5_000)
})

test('Ctrl-C in the middle of a fault stops brokers, functions and reader', { timeout: 120_000 }, async () => {
  const options = ['--for', '5m', '--every', '2s', '--faults', 'pause-broker', '--rate', '50']
  run = runCliProcess(['chaos', '--json', '--dir', dir, ...options], environment())
  const { child, ended } = run
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (text: string) => /now pause-broker/.test(text) && resolve())
    child.once('close', () => reject(new Error('ended before its first fault')))
  })
  child.kill('SIGINT')
  const { code, stdout } = await ended
  expect(code).toBe(130)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'INTERRUPTED' })
  await untilNothingLeft(runId, systemClock, 2_000)
})
