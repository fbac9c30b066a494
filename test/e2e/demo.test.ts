import { describe, expect, test, vi } from 'vitest'
import type { DemoResult } from '../../lib/local/demo/result.ts'
import { kafkaVersions } from '../../lib/local/kafka-jars.ts'
import { cliRuns } from '../helpers/cli-runs.ts'
import { produce } from '../helpers/producing.ts'

// A broker, containers that start cold again and again, and a paced run: slow where other work shares the machine.
vi.setConfig({ testTimeout: 120_000 })

const commands = cliRuns('demo')

const demo = (args: readonly string[]) => commands.start(['demo', '--json', ...args])
const resultOf = (stdout: string): DemoResult => JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as DemoResult
const relaying = /[1-9][\d,]* of [\d,]+ relayed/

describe.each(kafkaVersions)('Kafka %s', (version) => {
  test('every flight is relayed exactly once and in order although functions are killed at work', async () => {
    const records = 5_000
    const run = demo(['--kafka', version, '--records', String(records), '--seconds', '10', '--kills', '120'])
    const { code, stdout, stderr } = await run.ended
    const { kills, windows, invocations, seconds, ...proof } = resultOf(stdout)
    expect(proof, stderr).toEqual({
      ok: true,
      records,
      expected: records,
      delivered: records,
      lost: 0,
      duplicated: 0,
      outOfOrder: 0,
      abortedSeen: 0,
      openTransactions: 0,
    })
    expect(code).toBe(0)
    expect(kills, stderr).toBeGreaterThanOrEqual(2)
    expect(windows).toBeGreaterThanOrEqual(4)
    expect(invocations).toBeGreaterThan(kills)
    expect(seconds).toBeGreaterThanOrEqual(10)
    expect(stderr).toContain('Proven: 5,000 records of the source gave 5,000 outputs')
    await commands.untilNothingLeft(5_000)
  })
})

test('one record too many in an output is not called proven', async () => {
  const run = demo(['--records', '2000', '--seconds', '5', '--kills', 'off'])
  const [, broker = ''] = /Kafka serves at (\S+),/.exec(await run.untilSaid(relaying)) ?? []
  await produce([broker], 'flights.late', [{ key: 'LAX', value: '{"one":"too many"}' }])
  const { code, stdout, stderr } = await run.ended
  expect(code, stderr).toBe(1)
  expect(resultOf(stdout)).toMatchObject({ ok: false, records: 2_000, kills: 0 })
  expect(stderr).not.toContain('Proven')
})

test('a second demo is refused while one runs, and Ctrl-C in the middle stops all of it', async () => {
  const run = demo([])
  await run.untilSaid(relaying)
  const second = await demo([]).ended
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`is in use by process ${run.child.pid}`)
  expect(JSON.parse(second.stdout)).toMatchObject({ ok: false, code: 'LOCAL_STACK' })

  run.child.kill('SIGINT')
  const { code, stdout } = await run.ended
  expect(code).toBe(130)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'INTERRUPTED' })
  await commands.untilNothingLeft(1_000)
})

test('a demo that crashes leaves no process behind', async () => {
  const run = demo([])
  await run.untilSaid(relaying)
  run.child.kill('SIGKILL')
  await run.ended
  await commands.untilNothingLeft(5_000)
})
