import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import type { DemoResult } from '../../lib/local/demo/result.ts'
import { kafkaVersions } from '../../lib/local/kafka-jars.ts'
import { type CliRun, runCliProcess } from '../helpers/cli.ts'
import { runMarker, untilNothingLeft } from '../helpers/leftovers.ts'
import { produce } from '../helpers/producing.ts'

// A broker, containers that start cold again and again, and a paced run: slow where other work shares the machine.
vi.setConfig({ testTimeout: 120_000 })

let dir: string
let runId: string
const runs: CliRun[] = []
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-demo-'))
  runId = crypto.randomUUID()
})
afterEach(async () => {
  for (const { child, ended } of runs.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  await untilNothingLeft(runId, systemClock, 10_000)
  await rm(dir, { recursive: true, force: true })
})

function demo(args: readonly string[]): CliRun {
  const run = runCliProcess(['demo', '--json', '--dir', dir, ...args], { ...process.env, [runMarker]: runId })
  runs.push(run)
  return run
}

/** Resolves with what was said on stderr up to and including `pattern`. */
function untilSaid(run: CliRun, pattern: RegExp): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    run.child.once('close', () => reject(new Error(`ended before it said ${pattern}: ${said}`)))
    run.child.stderr?.on('data', (text: string) => {
      said += text
      if (pattern.test(said)) resolve(said)
    })
  })
}

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
    await untilNothingLeft(runId, systemClock, 5_000)
  })
})

test('one record too many in an output is not called proven', async () => {
  const run = demo(['--records', '2000', '--seconds', '5', '--kills', 'off'])
  const [, broker = ''] = /Kafka serves at (\S+),/.exec(await untilSaid(run, relaying)) ?? []
  await produce([broker], 'flights.late', [{ key: 'LAX', value: '{"one":"too many"}' }])
  const { code, stdout, stderr } = await run.ended
  expect(code, stderr).toBe(1)
  expect(resultOf(stdout)).toMatchObject({ ok: false, records: 2_000, kills: 0 })
  expect(stderr).not.toContain('Proven')
})

test('a second demo is refused while one runs, and Ctrl-C in the middle stops all of it', async () => {
  const run = demo([])
  await untilSaid(run, relaying)
  const second = await demo([]).ended
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`is in use by process ${run.child.pid}`)
  expect(JSON.parse(second.stdout)).toMatchObject({ ok: false, code: 'LOCAL_STACK' })

  run.child.kill('SIGINT')
  const { code, stdout } = await run.ended
  expect(code).toBe(130)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'INTERRUPTED' })
  await untilNothingLeft(runId, systemClock, 1_000)
})

test('a demo that crashes leaves no process behind', async () => {
  const run = demo([])
  await untilSaid(run, relaying)
  run.child.kill('SIGKILL')
  await run.ended
  await untilNothingLeft(runId, systemClock, 5_000)
})
