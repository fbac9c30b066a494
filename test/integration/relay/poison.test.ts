import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleRelay } from '../../../lib/local/bundle.ts'
import type { InvokeResult } from '../../../lib/local/lambda-host/invoke-result.ts'
import { createLambdaHost, type LambdaHost } from '../../../lib/local/lambda-host/lambda-host.ts'
import { laneOf } from '../../../lib/relay/lane-id.ts'
import { resumeLane } from '../../../lib/relay/operator/resume-lane.ts'
import { deploymentEnv } from '../../helpers/deployment-env.ts'
import { within } from '../../helpers/kafka-client.ts'
import { fenceOf } from '../../helpers/operator.ts'
import { recordsCommitted } from '../../helpers/read-committed.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { appendRecords } from '../../helpers/writing.ts'

const module = join(import.meta.dirname, '..', '..', 'fixtures', 'relays', 'deadly.ts')
const timeoutMs = 4_000
const memoryMb = 256
const invocationsMax = 40

let dir: string
let host: LambdaHost
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-poison-'))
  host = createLambdaHost()
  for (const trigger of ['relay', 'sweep', 'status'] as const) await bundleRelay(module, trigger, join(dir, trigger))
})
afterAll(async () => {
  await host.stop()
  await rm(dir, { recursive: true })
})

/** The relay as functions over this world's topics; deployed again it replaces what was there. */
async function deploy(world: RelayWorld, over: Readonly<Record<string, string>> = {}): Promise<void> {
  const { source: SOURCE, output: OUTPUT, dead: DEAD } = world.names
  const env = { ...(await deploymentEnv(world)), SOURCE, OUTPUT, DEAD, ...over }
  for (const trigger of ['relay', 'sweep', 'status']) {
    const code = { bundleDir: join(dir, trigger) }
    await host.deploy({ name: `${world.prefix}-${trigger}`, code, handler: 'index.handler', timeoutMs, memoryMb, env })
  }
}

const laneAt = ({ prefix, names }: RelayWorld, partition: number, partitions: number) =>
  laneOf(partition, partitions, { prefix, relay: 'deadly', topic: names.source, partitionsPerLane: 1 })

const write = ({ cluster, names }: RelayWorld, partition: number, words: readonly string[]) =>
  appendRecords(
    cluster,
    { topic: names.source, partition },
    words.map((word) => ({ value: Buffer.from(word), headers: [{ key: 'word', value: Buffer.from(word) }] })),
  )

/** As an event source mapping: the same event again and again, until it is answered with success. */
async function deliver(world: RelayWorld, partition: number, last: number): Promise<readonly InvokeResult[]> {
  const at = (offset: number) => ({ topic: world.names.source, partition, offset })
  const event = { eventSource: 'SelfManagedKafka', records: { any: [at(0), at(last)] } }
  const results: InvokeResult[] = []
  while (results.length < invocationsMax) {
    const result = await host.invoke(`${world.prefix}-relay`, event)
    results.push(result)
    if (result.status === 'success') return results
  }
  throw new Error(`not done after ${invocationsMax} invocations: ${JSON.stringify(results.at(-1)?.payload)}`)
}

const endings = (results: readonly InvokeResult[]): Set<string> =>
  new Set(results.flatMap((result) => (result.status === 'error' ? [result.payload.errorType] : [])))

async function relayed({ cluster, names }: RelayWorld, partitions: number, partition: number): Promise<string[]> {
  const records = await recordsCommitted(cluster, names.output, partitions)
  return records.filter((record) => record.partition === partition).map(({ value }) => String(value).slice(0, 10))
}

async function deadLetters({ cluster, names }: RelayWorld) {
  const letters = await recordsCommitted(cluster, names.dead, 1)
  return letters.map(({ value, headers }) => {
    const header = (name: string) => String(headers.find(({ key }) => key === name)?.value)
    const [code, partition, offset] = ['error.code', 'source.partition', 'source.offset'].map((name) =>
      header(`fencepost.${name}`),
    )
    return { value: String(value), word: header('word'), code, partition, offset }
  })
}

describe('in functions', () => {
  test('records that throw, or give more than the output takes, are dead-lettered by one invocation', async () => {
    const world = await relayWorld()
    await deploy(world)
    await write(world, 0, ['a', 'throw', 'b', 'large', 'c'])
    const results = await deliver(world, 0, 4)
    expect(results).toMatchObject([{ status: 'success' }])
    expect(await relayed(world, 1, 0)).toEqual(['a', 'b', 'c'])
    expect(await deadLetters(world)).toEqual([
      { value: 'throw', word: 'throw', code: 'TRANSFORM_FAILED', partition: '0', offset: '1' },
      { value: 'large', word: 'large', code: 'RECORD_TOO_LARGE', partition: '0', offset: '3' },
    ])
  })

  test('records that kill the process are found alone, dead-lettered, and the others keep their order', async () => {
    const deaths = ['exit', 'loop', 'memory']
    const world = await relayWorld({ source: { partitions: 3 }, output: { partitions: 3 } })
    await deploy(world)
    for (const [partition, word] of deaths.entries()) await write(world, partition, ['a', 'b', word, 'c', 'd', 'e'])
    const results = await Promise.all(deaths.map((_, partition) => deliver(world, partition, 5)))
    const [exits, loops, memories] = results.map(endings)
    expect(exits).toContain('Runtime.ExitError')
    expect(loops).toContain('Sandbox.Timedout')
    expect(memories).toContain('Runtime.OutOfMemory')
    for (const partition of deaths.keys()) {
      expect(await relayed(world, 3, partition)).toEqual(['a', 'b', 'c', 'd', 'e'])
      const lane = laneAt(world, partition, 3)
      expect(await fenceOf(world.fences, lane.transactionalId)).toMatchObject({
        attempts: 0,
        stopped: null,
        owner: null,
      })
    }
    expect((await deadLetters(world)).toSorted((a, b) => Number(a.partition) - Number(b.partition))).toEqual(
      deaths.map((word, partition) => ({
        value: word,
        word,
        code: 'POISON_RECORD',
        partition: String(partition),
        offset: '2',
      })),
    )
  }, 180_000)

  test('with onError stop the lane stays at the record, says so in its fence record, and goes on once mended', async () => {
    const world = await relayWorld()
    await deploy(world, { ON_ERROR: 'stop' })
    await write(world, 0, ['a', 'exit', 'b'])
    const results = await deliver(world, 0, 2)
    expect(endings(results)).toContain('Runtime.ExitError')
    const lane = laneAt(world, 0, 1)
    const stop = `${lane.transactionalId}: RECORD_REJECTED_STOP`
    expect(results.at(-1)).toMatchObject({ status: 'success', payload: { stopped: [stop] } })
    const { stopped, dirty } = await fenceOf(world.fences, lane.transactionalId)
    expect(stopped).toMatchObject({ code: 'RECORD_REJECTED_STOP', message: expect.stringContaining('POISON_RECORD') })
    expect(dirty).toBe(true) // no commit of its own has confirmed the position, so F stays behind it
    expect(await relayed(world, 1, 0)).toEqual(['a'])
    expect(await host.invoke(`${world.prefix}-sweep`, {})).toMatchObject({ payload: { lanes: 1, stopped: [stop] } })
    const status = await host.invoke(`${world.prefix}-status`, {})
    const waiting = { state: 'stopped', lag: '2', stopped: { code: 'RECORD_REJECTED_STOP' }, owner: null }
    expect(status).toMatchObject({ payload: { ok: false, lanes: [{ lane: lane.transactionalId, ...waiting }] } })

    await deploy(world, { ON_ERROR: 'stop', MENDED: 'yes' })
    await resumeLane(await world.container(), lane, within(10_000))
    expect(await host.invoke(`${world.prefix}-sweep`, {})).toMatchObject({ payload: { windows: 1, stopped: [] } })
    expect(await relayed(world, 1, 0)).toEqual(['a', 'exit', 'b'])
  }, 120_000)
})
