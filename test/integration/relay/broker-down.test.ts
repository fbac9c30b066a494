import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { copyAfter, gate } from '../../helpers/gates.ts'
import { clusterThrough, type KafkaProxy, proxyBefore } from '../../helpers/kafka-proxy.ts'
import { fenceOf } from '../../helpers/operator.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { failureOf, onlyLane, refusalOf, ring } from '../../helpers/ringing.ts'

describe('the only broker is killed', () => {
  let dir: string
  let kafka: KafkaHandle
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'fencepost-broker-down-'))
    kafka = await startKafka({ version: '4.1', dataDir: dir })
  })
  afterAll(async () => {
    await kafka.stop()
    await rm(dir, { recursive: true, force: true })
  })
  const kill = async () => kafka.nodes[0]?.kill('SIGKILL')
  const restart = async () => kafka.nodes[0]?.restart()

  /** Rings until the lane is done, as a trigger does. */
  async function ringUntilDone(world: RelayWorld, runtime: RelayRuntime): Promise<void> {
    for (let rings = 0; rings < 5; rings++) {
      if ((await ring(runtime)).ok) return
    }
    throw new Error(`${world.lane().transactionalId} is not done after five rings`)
  }

  test('before the ring: it fails by name within its time, and the next one relays everything', async () => {
    const world = await relayWorld({ brokers: kafka.brokers })
    const values = await world.produce(5)
    const [cold, warm] = [await world.container(), await world.container()]
    await ring(warm)
    values.push(...(await world.produce(5)))
    await kill()
    for (const runtime of [cold, warm]) {
      const failure = await refusalOf(ring(runtime, undefined, 2_000))
      expect(failure).toMatchObject({ code: 'BROKER_UNAVAILABLE', disposition: 'retry' })
      expect(failure.message).toContain(kafka.brokers[0])
    }
    await restart()
    await ringUntilDone(world, warm)
    await ringUntilDone(world, cold)
    expect(await world.delivered()).toEqual(values)
  })

  test('in the transform of a window, and comes back: every record is relayed once', async () => {
    const world = await relayWorld({ brokers: kafka.brokers })
    const values = await world.produce(20)
    const held = gate()
    const runtime = await world.container({ define: copyAfter(held.pass) })
    const ringing = ring(runtime)
    await held.reached
    await kill()
    held.open()
    await restart()
    await ringing
    await ringUntilDone(world, runtime)
    expect(await world.delivered()).toEqual(values)
  })

  test('before the commit reaches it, and comes back: every record is relayed once', async () => {
    const world = await relayWorld({ brokers: kafka.brokers })
    const values = await world.produce(20)
    const proxy = await proxyBefore(kafka.brokers)
    const runtime = await world.container({ cluster: clusterThrough(kafka.brokers, proxy) })
    await ring(runtime)
    values.push(...(await world.produce(20)))
    const struck = proxy.before('EndTxn', kill)
    const ringing = ring(runtime)
    await expect.poll(() => struck.fired, { timeout: 10_000 }).toBe(1)
    await restart()
    await ringing
    await ringUntilDone(world, runtime)
    expect(await world.delivered()).toEqual(values)
  })
})

describe.each(['4.1', '3.9'] as const)('the answer to the commit is lost, Kafka %s', (version) => {
  async function proxiedWorld() {
    const world = await relayWorld({ version })
    const proxy = await proxyBefore(world.brokers)
    const runtime = await world.container({ cluster: clusterThrough(world.brokers, proxy) })
    return { world, proxy, runtime }
  }

  test('once: it is asked again, and nothing is relayed twice, then or in the next window', async () => {
    const { world, proxy, runtime } = await proxiedWorld()
    const values = await world.produce(10)
    await ring(runtime)
    values.push(...(await world.produce(10)))
    const lost = proxy.dropAnswers('EndTxn')
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    expect(lost.fired).toBe(1)
    values.push(...(await world.produce(10)))
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual(values)
  })

  test.each([
    ['and the commit arrived', (proxy: KafkaProxy) => proxy.dropAnswers('EndTxn', 1_000)],
    ['and the commit did not arrive', (proxy: KafkaProxy) => proxy.block('EndTxn')],
  ] as const)('and nobody can tell, %s: a failure that says so; the next ring finds out', async (_, harm) => {
    const { world, proxy, runtime } = await proxiedWorld()
    const values = await world.produce(10)
    await ring(runtime)
    values.push(...(await world.produce(10)))
    const faults = [harm(proxy), proxy.block('InitProducerId')]
    const failure = await failureOf(ring(runtime, undefined, 3_000))
    expect(failure).toMatchObject({ outcome: 'unknown', disposition: 'retry' })
    expect(failure.message).toContain('COMMIT_UNKNOWN')
    expect(failure.message).toContain(world.lane().transactionalId)
    expect(await fenceOf(world.fences, world.lane().transactionalId)).toMatchObject({ dirty: true, owner: null })
    expect(faults[0]?.fired).toBeGreaterThan(0)
    for (const fault of faults) fault.lift()
    values.push(...(await world.produce(10)))
    for (const next of [runtime, await world.container()]) {
      expect(onlyLane(await ring(next))).toMatchObject({ kind: 'done' })
    }
    expect(await world.delivered()).toEqual(values)
  })

  test('a late copy of the commit arrives in the middle of the next window: it commits nothing of it', async () => {
    const { world, proxy, runtime } = await proxiedWorld()
    const values = await world.produce(10)
    const late = proxy.hold('EndTxn')
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    expect(late.fired).toBe(1)
    values.push(...(await world.produce(10)))
    const struck = proxy.before('EndTxn', () => late.arrive())
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    expect(struck.fired).toBe(1)
    values.push(...(await world.produce(10)))
    await ring(await world.container())
    expect(await world.delivered()).toEqual(values)
  })
})
