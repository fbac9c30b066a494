import { describe, expect, test } from 'vitest'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { clusterThrough, proxyBefore } from '../../helpers/kafka-proxy.ts'
import { committedBy, setTopicConfig } from '../../helpers/operator.ts'
import { copyRelay, type Names, relayWorld, type WorldOptions } from '../../helpers/relay-world.ts'
import { failureOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { appendRecords } from '../../helpers/writing.ts'

async function worldWith(guarantee: 'at-least-once' | 'none', options: WorldOptions = {}) {
  const define = (names: Names) => ({ ...copyRelay(names), guarantee })
  const world = await relayWorld({ define, ...options })
  const proxy = await proxyBefore(world.brokers)
  return { world, proxy, through: () => clusterThrough(world.brokers, proxy) }
}

describe.each(kafkaVersions)('at-least-once on Kafka %s', (version) => {
  test('relays everything once as long as nothing fails, and keeps its offsets in transactions of its lane', async () => {
    const { world, proxy, through } = await worldWith('at-least-once', { version })
    const values = await world.produce(20)
    const warm = await world.container({ cluster: through() })
    await ring(warm)
    values.push(...(await world.produce(20)))
    expect(onlyLane(await ring(warm))).toMatchObject({ kind: 'done', windows: 1 })
    expect(await world.delivered()).toEqual(values)
    expect(proxy.requests).toContain('TxnOffsetCommit')
    expect(proxy.requests).not.toContain('OffsetCommit')
    expect(await committedBy(world.cluster, world.lane())).toMatchObject({ offset: 40n })
  })

  test('a failure between outputs and offsets relays the window again, and loses nothing', async () => {
    const { world, proxy, through } = await worldWith('at-least-once', { version })
    const runtime = await world.container({ cluster: through() })
    const first = await world.produce(3)
    await ring(runtime)
    const second = await world.produce(3)
    const blocked = proxy.block('TxnOffsetCommit')
    await failureOf(ring(runtime, undefined, 3_000))
    expect(blocked.fired).toBeGreaterThan(0)
    blocked.lift()
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    const delivered = await world.delivered()
    expect([...new Set(delivered)]).toEqual([...first, ...second])
    expect(delivered.length).toBeGreaterThan(first.length + second.length)
  })

  test('a record that the broker refuses is dead-lettered, the others are relayed', async () => {
    const { world } = await worldWith('at-least-once', { version })
    const runtime = await world.container()
    const values = await world.produce(3)
    await ring(runtime)
    await setTopicConfig(world.cluster, world.names.output, 'max.message.bytes', '2000')
    const source = { topic: world.names.source, partition: 0 }
    await appendRecords(world.cluster, source, [{ value: Buffer.alloc(5_000, 'x') }])
    values.push(...(await world.produce(3)))
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    expect([...new Set(await world.delivered())]).toEqual(values)
    expect(await world.buried()).toEqual(['x'.repeat(5_000)])
  })
})

describe('no guarantee', () => {
  test('relays everything as long as nothing fails', async () => {
    const { world } = await worldWith('none')
    const values = await world.produce(20)
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done' })
    await expect.poll(() => world.delivered(), { timeout: 10_000 }).toEqual(values)
  })

  test('does not wait for its outputs: their failure is told and forgotten, the lane goes on', async () => {
    const { world, proxy, through } = await worldWith('none')
    const failures: string[] = []
    const observer = { laneFailed: ({ error }: { error: { code: string } }) => failures.push(error.code) }
    const runtime = await world.container({ cluster: through(), observer })
    await world.produce(3)
    const blocked = proxy.block('Produce')
    expect(onlyLane(await ring(runtime, undefined, 3_000))).toMatchObject({ kind: 'done' })
    await expect.poll(() => failures, { timeout: 10_000 }).toEqual(['SESSION_POISONED'])
    blocked.lift()
    const later = await world.produce(3)
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    await expect.poll(() => world.delivered(), { timeout: 10_000 }).toEqual(later)
  })
})
