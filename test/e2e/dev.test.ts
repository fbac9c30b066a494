import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import type { CliRun } from '../helpers/cli.ts'
import { cliRuns } from '../helpers/cli-runs.ts'
import { clusterAt } from '../helpers/kafka-client.ts'
import { produce } from '../helpers/producing.ts'
import { readCommitted } from '../helpers/read-committed.ts'
import { freshName, kafkaBrokers } from '../helpers/stack.ts'

const commands = cliRuns('dev')

const dev = (...args: readonly string[]): CliRun => commands.start(['dev', ...args])

const brokersOf = async (run: CliRun): Promise<readonly string[]> =>
  (JSON.parse(await run.firstLine) as { brokers: readonly string[] }).brokers

/** Waits until a read_committed reader finds so many records in the topic, and answers them sorted. */
async function relayed(brokers: readonly string[], topic: string, count: number): Promise<readonly string[]> {
  const cluster = clusterAt(brokers)
  try {
    return await vi.waitFor(
      async () => {
        const values = await readCommitted(cluster, topic, 1)
        expect(values.length).toBeGreaterThanOrEqual(count)
        return values.toSorted()
      },
      { timeout: 20_000, interval: 100 },
    )
  } finally {
    await cluster.close()
  }
}

const flight = (delay: number) =>
  JSON.stringify({ date: '2001-01-10T18:20', delay, distance: 100, origin: 'SFO', destination: 'LAX' })

test('a relay is rung by what is written to its source; a second start is refused; Ctrl-C leaves nothing', {
  timeout: 120_000,
}, async () => {
  const run = dev('--json', '--relay', 'relays/delays.ts', '--create-topics', '1')
  const brokers = await brokersOf(run)
  expect(JSON.parse(await run.firstLine)).toMatchObject({
    relays: [{ name: 'delays', module: 'relays/delays.ts', generation: 1, source: 'flights' }],
  })
  await produce(brokers, 'flights', [{ value: flight(3) }, { value: flight(20) }, { value: 'no flight' }])
  expect(await relayed(brokers, 'flights.on-time', 1)).toEqual([flight(3)])
  expect(await relayed(brokers, 'flights.late', 1)).toEqual([expect.stringContaining('"delayClass":"minor"')])
  expect(await relayed(brokers, 'flights.dead', 1)).toEqual(['no flight'])
  await run.untilSaid(/delays: 1 invocation ok, 3 records in 1 window: 2 outputs, 1 dead letter/)

  const second = await dev('--relay', 'relays/delays.ts').ended
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`is in use by process ${run.child.pid}`)

  run.child.kill('SIGINT')
  expect((await run.ended).code).toBe(0)
  await commands.untilNothingLeft(1_000)
})

const fencepost = fileURLToPath(new URL('../../lib/index.ts', import.meta.url))

/** A relay that puts a word before each value, on topics of its own. */
const wordRelay = (name: string, word: string) => `
  import { defineRelay, string, topic } from ${JSON.stringify(fencepost)}
  export default defineRelay({
    name: '${name}',
    source: topic('${name}.in', string()),
    outputs: { out: topic('${name}.out', string()) },
    transform: (record, { emit }) => emit.out('${word} ' + record.value),
  })`

test('missing topics are named; in a cluster that exists a relay is deployed anew when its file changes, and ends with its process', {
  timeout: 120_000,
}, async () => {
  const brokers = await kafkaBrokers('4.1')
  const name = freshName('words')
  const module = join(commands.dir, 'words.ts')
  await writeFile(module, wordRelay(name, 'first'))
  const args = ['--relay', module, '--brokers', brokers.join(','), '--prefix', name]

  const refused = await dev('--json', ...args).ended
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.stdout)).toMatchObject({ ok: false, code: 'TOPIC_MISSING' })
  expect(refused.stderr).toMatch(/\.in: source of .*\.out: output of .*Fix: create them, or give --create-topics/s)

  const run = dev('--json', ...args, '--create-topics', '1')
  expect(await brokersOf(run)).toEqual(brokers)
  await produce(brokers, `${name}.in`, [{ value: 'a' }])
  await relayed(brokers, `${name}.out`, 1)

  await writeFile(module, wordRelay(name, 'second'))
  await run.untilSaid(/generation 2 is deployed, \S+words\.ts has changed/)
  await produce(brokers, `${name}.in`, [{ value: 'b' }])
  expect(await relayed(brokers, `${name}.out`, 2)).toEqual(['first a', 'second b'])

  await writeFile(module, 'export default nonsense(')
  await run.untilSaid(/not deployed, generation 2 goes on: CONFIG_INVALID: .*words\.ts cannot be bundled/)
  await produce(brokers, `${name}.in`, [{ value: 'c' }])
  expect(await relayed(brokers, `${name}.out`, 3)).toEqual(['first a', 'second b', 'second c'])

  run.child.kill('SIGKILL')
  await run.ended
  await commands.untilNothingLeft(5_000)
})

test('a pull finds what was written before, goes on from there in the next run, and a lane that stops is told with its fix', {
  timeout: 120_000,
}, async () => {
  const brokers = await kafkaBrokers('3.9')
  const name = freshName('pulled')
  const module = join(commands.dir, 'pulled.ts')
  await writeFile(module, wordRelay(name, 'pulled'))
  const start = () =>
    dev(
      ...['--json', '--relay', module, '--brokers', brokers.join(','), '--prefix', name],
      ...['--trigger', 'pull', '--every', '300ms', '--create-topics', '1'],
    )
  const first = start()
  await first.firstLine
  await produce(brokers, `${name}.in`, [{ value: 'a' }])
  await relayed(brokers, `${name}.out`, 1)
  first.child.kill('SIGINT')
  expect((await first.ended).code).toBe(0)

  await produce(brokers, `${name}.in`, [{ value: 'b' }])
  const second = start()
  expect(await relayed(brokers, `${name}.out`, 2)).toEqual(['pulled a', 'pulled b'])
  await produce(brokers, `${name}.in`, [{ value: Buffer.from([0xff]) }])
  await second.untilSaid(
    /lane \S+\.in\.0 has stopped: RECORD_REJECTED_STOP: record \S+\.in\/0\/2 cannot pass .*resume the lane/,
  )
  second.child.kill('SIGINT')
  expect((await second.ended).code).toBe(0)
})

test('the sweep finds what nothing rang for, and says so', { timeout: 120_000 }, async () => {
  const brokers = await kafkaBrokers('4.1')
  const name = freshName('swept')
  const module = join(commands.dir, 'swept.ts')
  await writeFile(module, wordRelay(name, 'swept'))
  const run = dev(
    ...['--json', '--relay', module, '--brokers', brokers.join(','), '--prefix', name, '--create-topics', '1'],
    ...['--trigger', 'pull', '--every', '1d', '--sweep-every', '1s'],
  )
  await run.firstLine
  await produce(brokers, `${name}.in`, [{ value: 'a' }])
  await relayed(brokers, `${name}.out`, 1) // by the only pull, if that came to it
  await produce(brokers, `${name}.in`, [{ value: 'b' }])
  expect(await relayed(brokers, `${name}.out`, 2)).toEqual(['swept a', 'swept b'])
  await run.untilSaid(/: sweep: \d+ invocations? ok, 1 record in 1 window: 1 output/)
  run.child.kill('SIGINT')
  expect((await run.ended).code).toBe(0)
})
