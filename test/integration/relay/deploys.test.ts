import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { bundleRelay } from '../../../lib/local/bundle.ts'
import { createLambdaHost, type LambdaHost } from '../../../lib/local/lambda-host/lambda-host.ts'
import { runCliProcess } from '../../helpers/cli.ts'
import { deploymentEnv } from '../../helpers/deployment-env.ts'
import { runMarker } from '../../helpers/leftovers.ts'
import { recordsCommitted } from '../../helpers/read-committed.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { until } from '../../helpers/workers.ts'

const module = join(import.meta.dirname, '..', '..', 'fixtures', 'relays', 'generation.ts')
const partitions = 2
const all = Array.from({ length: partitions }, (_, partition) => partition)
const [older, newer] = ['101', '102']
/** Of each function and partition, that an assertion about "no more" is made after. */
const ringsMore = 5

let bundleDir: string
let host: LambdaHost
beforeAll(async () => {
  bundleDir = await mkdtemp(join(tmpdir(), 'fencepost-deploys-'))
  host = createLambdaHost()
  await bundleRelay(module, 'relay', bundleDir)
})
afterAll(async () => {
  await host.stop()
  await rm(bundleDir, { recursive: true })
})

/** Records come and bells ring all the time; every deployment that was ever made goes on being rung. */
class Load {
  readonly produced = all.map((): string[] => [])
  readonly rings = new Map<string, number[]>()
  readonly #world: RelayWorld
  readonly #isFull = new AbortController()
  #isOver = false
  readonly #loops: Promise<void>[]

  constructor(world: RelayWorld) {
    this.#world = world
    this.#loops = all.map((partition) => this.#produce(partition))
    onTestFinished(() => this.stop())
  }

  async deploy(generation: string): Promise<void> {
    const { source: SOURCE, output: OUTPUT } = this.#world.names
    const env = { ...(await deploymentEnv(this.#world)), SOURCE, OUTPUT, FENCEPOST_GENERATION: generation }
    const name = `${this.#world.prefix}-${generation}`
    await host.deploy({ name, code: { bundleDir }, handler: 'index.handler', timeoutMs: 5_000, memoryMb: 256, env })
    this.rings.set(
      generation,
      all.map(() => 0),
    )
    this.#loops.push(...all.map((partition) => this.#ring(name, generation, partition)))
  }

  /** Each of its functions has been rung some more, for each partition. */
  async goesOn(generation: string): Promise<void> {
    const before = [...(this.rings.get(generation) ?? [])]
    const isRung = async () =>
      all.every((partition) => (this.rings.get(generation)?.[partition] ?? 0) >= (before[partition] ?? 0) + ringsMore)
    await until(`generation ${generation} is rung again`, isRung, 60_000)
  }

  stopProducing(): void {
    this.#isFull.abort()
  }

  async stop(): Promise<void> {
    this.stopProducing()
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  async #produce(partition: number): Promise<void> {
    while (!this.#isFull.signal.aborted) {
      this.produced[partition]?.push(...(await this.#world.produce(10, partition)))
      await systemClock.sleep(30, this.#isFull.signal).catch(() => undefined)
    }
  }

  async #ring(functionName: string, generation: string, partition: number): Promise<void> {
    while (!this.#isOver) {
      const last = (this.produced[partition]?.length ?? 0) - 1
      const records = { any: [{ topic: this.#world.names.source, partition, offset: Math.max(0, last) }] }
      await host.invoke(functionName, { eventSource: 'SelfManagedKafka', records })
      const rings = this.rings.get(generation) ?? []
      rings[partition] = (rings[partition] ?? 0) + 1
    }
  }
}

/** Generations by partition, in the order of the log, each as often as it took over. */
async function turns({ cluster, names }: RelayWorld): Promise<string[][]> {
  const records = await recordsCommitted(cluster, names.output, partitions)
  return all.map((partition) => {
    const mine = records.filter((record) => record.partition === partition)
    const generations = mine.map(({ headers }) => String(headers.find(({ key }) => key === 'generation')?.value))
    return generations.filter((generation, index) => generation !== generations[index - 1])
  })
}

const { [runMarker]: _, ...environment } = process.env

async function rollback(world: RelayWorld, ...args: readonly string[]) {
  const { source: SOURCE, output: OUTPUT } = world.names
  const env = { ...environment, ...(await deploymentEnv(world)), SOURCE, OUTPUT }
  const { code, stdout, stderr } = await runCliProcess(['rollback', '--relay', module, '--json', ...args], env).ended
  return { code, stderr, ...JSON.parse(stdout) }
}

describe('deployments under load', { timeout: 240_000 }, () => {
  test('an update and a rollback lose and double nothing, and no deployment writes after the one that followed it', async () => {
    const world = await relayWorld({ source: { partitions }, output: { partitions } })
    const load = new Load(world)
    const have = async (wanted: readonly string[]) => {
      const now = await turns(world)
      return now.every((one) => one.length >= wanted.length)
    }

    await load.deploy(older)
    await until('the older deployment writes', () => have([older]), 60_000)
    await load.deploy(newer)
    await until('the newer one has taken over', () => have([older, newer]), 60_000)
    await load.goesOn(older)
    expect(await turns(world)).toEqual(all.map(() => [older, newer]))

    const planned = await rollback(world, '--dry-run')
    expect(planned).toMatchObject({
      code: 0,
      ok: true,
      dryRun: true,
      relay: 'copy',
      withdraw: Number(newer),
      above: Number(older),
    })
    expect(planned.lanes.map(({ state }: { state: string }) => state)).toEqual(all.map(() => 'planned'))
    const done = await rollback(world, '--yes')
    expect(done.lanes.map(({ state }: { state: string }) => state)).toEqual(all.map(() => 'withdrawn'))
    await until('the older one writes again', () => have([older, newer, older]), 60_000)
    await load.goesOn(newer)
    expect(await rollback(world, '--yes')).toMatchObject({
      code: 0,
      lanes: all.map(() => ({ state: 'withdrawn before' })),
    })

    load.stopProducing()
    await until('all is delivered', async () => (await world.delivered()).length >= load.produced.flat().length)
    await load.stop()
    expect(await turns(world)).toEqual(all.map(() => [older, newer, older]))
    expect(await world.delivered()).toEqual(load.produced.flat())
  })
})
