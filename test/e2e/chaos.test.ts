import { expect, test } from 'vitest'
import type { ChaosResult } from '../../lib/local/chaos/result.ts'
import { cliRuns } from '../helpers/cli-runs.ts'

const commands = cliRuns('chaos')

const chaos = (options: readonly string[]) => commands.start(['chaos', '--json', ...options])
const resultOf = (stdout: string): ChaosResult => JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ChaosResult

test('functions killed and thawed after a takeover, answers and commits lost, the table away: nothing is lost or doubled, and a reader of Kafka agrees', {
  timeout: 180_000,
}, async () => {
  const faults = ['kill-function', 'pause-function', 'random-aborts', 'dynamodb-lost-reply', 'delay']
  const options = ['--for', '15s', '--every', '3s', '--rate', '200', '--seed', '4', '--faults', faults.join(',')]
  const { code, stdout, stderr } = await chaos(options).ended
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
  await commands.untilNothingLeft(5_000)
})

test('Ctrl-C in the middle of a fault stops brokers, functions and reader', { timeout: 120_000 }, async () => {
  const options = ['--for', '5m', '--every', '2s', '--faults', 'pause-broker', '--rate', '50']
  const { child, ended, untilSaid } = chaos(options)
  await untilSaid(/now pause-broker/)
  child.kill('SIGINT')
  const { code, stdout } = await ended
  expect(code).toBe(130)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'INTERRUPTED' })
  await commands.untilNothingLeft(2_000)
})
