import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'

const main = join(import.meta.dirname, '..', '..', '..', 'bench', 'main.ts')
const timeoutMs = 150_000

async function bench(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  return { stdout, stderr, code, last: stdout.trim().split('\n').at(-1) ?? '' }
}

describe('npm run bench', { timeout: timeoutMs }, () => {
  test('throughput: both relay every record once, and the last line of stdout is the result', async () => {
    const { last, code, stderr } = await bench('throughput', '--records', '4000', '--runs', '1', '--json')
    expect(code, stderr).toBe(0)
    const figures = {
      recordsPerSecond: expect.any(Number),
      windowMsP50: expect.any(Number),
      rssMiB: expect.any(Number),
    }
    expect(JSON.parse(last)).toMatchObject({
      ratioVsKafkajs: expect.any(Number),
      relay: { ...figures, records: 4000 },
      kafkajs: { ...figures, records: 800 },
      machine: { kafka: '4.1', command: 'npm run bench -- throughput --records 4000 --runs 1 --json' },
    })
  })

  test('a lane that hops costs two fence writes and one barrier a bell; a bell without work costs neither', async () => {
    const { last, code, stderr } = await bench('latency', '--hop', '--windows', '10', '--json')
    expect(code, stderr).toBe(0)
    expect(JSON.parse(last)).toMatchObject({
      msP50: expect.any(Number),
      fenceWritesPerInvocation: 2,
      barriersPerInvocation: 1,
      fenceWritesPerNoopBell: 0,
      barriersPerNoopBell: 0,
    })
  })

  test('lanes: what lanes that share containers cost the broker, with every record relayed once', async () => {
    const small = ['--partitions', '4', '--containers', '2', '--seconds', '5', '--records-per-second', '200']
    const { last, code, stderr } = await bench('lanes', '--no-keys', '--commit-every', '200', ...small, '--json')
    expect(code, stderr).toBe(0)
    const result = JSON.parse(last)
    expect(result).toMatchObject({ ok: true, lost: 0, duplicated: 0, workload: { containers: 2, keyed: false } })
    const [level] = result.levels
    expect(level).toMatchObject({
      commitEveryMs: 200,
      verdict: 'proven',
      outOfOrder: 0,
      transactionsPerSecondAtMost: 20,
    })
    expect(level.markersPerTransaction, 'one for the output partition, one for the offsets').toBeCloseTo(2, 1)
    expect(level.transactionsPerSecond).toBeGreaterThan(1)
    expect(level.latencyMs.p99).toBeGreaterThanOrEqual(level.latencyMs.p50)
    expect(level.requestsPerSecond).toMatchObject({ Produce: expect.any(Number), EndTxn: expect.any(Number) })
    expect(level.transactionStateBytesPerTransaction).toBeGreaterThan(100)
    expect(level.brokerSockets).toBeGreaterThanOrEqual(4)
  })

  test('cold-start: both processes commit every record once; the package is small and says its size', async () => {
    const { last, code, stderr } = await bench('cold-start', '--runs', '2', '--json')
    expect(code, stderr).toBe(0)
    const spread = { median: expect.any(Number), min: expect.any(Number), max: expect.any(Number) }
    const result = JSON.parse(last)
    expect(result).toMatchObject({
      ratio: expect.any(Number),
      ratioVsKafkajsProcess: expect.any(Number),
      relay: { moduleLoadMs: spread, coldMs: spread, coldCpuMs: spread, warmInvocationWithoutWorkMs: spread },
      kafkajs: { processMs: spread, connectMs: spread, transactionMs: spread },
      workload: { recordsPerWindow: 100, runs: 2 },
    })
    expect(result.relay.zipBytes).toBeLessThan(1_000_000)
  })

  test('help has examples, and needs no broker', async () => {
    const { stdout, code } = await bench('latency', '--help')
    expect(code).toBe(0)
    expect(stdout).toContain('$ npm run bench -- latency --hop')
  })

  test('an unknown benchmark and a count out of bounds are named, with exit code 2', async () => {
    expect(await bench('speed')).toMatchObject({ code: 2, stderr: expect.stringContaining('speed') })
    const { code, stderr } = await bench('throughput', '--runs', '0')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('"0" is not a whole number from 1 to 99'),
    })
  })
})
