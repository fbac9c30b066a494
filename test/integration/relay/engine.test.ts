import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { createMemoryFenceStore } from '../../../lib/fencing/memory-fence-store.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { type EngineOptions, engine, ring } from '../../helpers/engine.ts'
import { batchOf, clusterAt, plainIdentity, within } from '../../helpers/kafka-client.ts'
import { readCommitted } from '../../helpers/read-committed.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

describe.each(['4.1', '3.9'] as const)('the engine on Kafka %s', (version) => {
  async function setUp(options: Partial<EngineOptions> = {}) {
    const brokers = await kafkaBrokers(version)
    const source = await createTopic(brokers, 'source', { partitions: 2 })
    const output = await createTopic(brokers, 'output', { partitions: 2 })
    const cluster = clusterAt(brokers)
    closing.push(cluster)
    const fences = createMemoryFenceStore()
    const base = { brokers, source, output, prefix: `t${randomUUID()}`, fences, ...options }
    const container = (more: Partial<EngineOptions> = {}): RelayRuntime => {
      const runtime = engine({ ...base, ...more })
      closing.push(runtime.cluster)
      return runtime
    }
    const produce = async (partition: number, values: readonly string[]) => {
      const body = {
        transactionalId: null,
        acks: -1,
        timeoutMs: 5000,
        topicData: [{ name: source, partitionData: [{ index: partition, records: batchOf(values, plainIdentity) }] }],
      }
      const target = { to: 'leader', topic: source, partition } as const
      const { body: answer } = await cluster.request(target, 'Produce', body, within(10_000))
      expect(answer.responses[0]?.partitionResponses[0]?.errorCode).toBe(0)
    }
    const delivered = () => readCommitted(cluster, output, 2)
    return { container, produce, delivered, fences, base }
  }

  const numbers = (from: number, until: number) =>
    Array.from({ length: until - from }, (_, index) => `v${from + index}`)

  test('relays what is there, once, and a second ring finds nothing to do', async () => {
    const { container, produce, delivered } = await setUp()
    await produce(0, numbers(0, 50))
    await produce(1, numbers(50, 80))
    const runtime = container()
    expect(await ring(runtime)).toMatchObject({ ok: true, lanes: [{ kind: 'done' }, { kind: 'done' }] })
    expect((await delivered()).sort()).toEqual(numbers(0, 80).sort())
    expect(await ring(runtime)).toMatchObject({ ok: true, lanes: [{ windows: 0 }, { windows: 0 }] })
    expect(await delivered()).toHaveLength(80)
  })

  test('a warm container goes on without a barrier; another one goes on from the committed position', async () => {
    const { container, produce, delivered } = await setUp()
    const [first, second] = [container(), container()]
    for (const [round, runtime] of [first, first, second, first].entries()) {
      await produce(0, numbers(round * 10, round * 10 + 10))
      expect(await ring(runtime)).toMatchObject({ ok: true })
    }
    expect(await delivered()).toEqual(numbers(0, 40))
  })

  test('two containers with the same bell at once relay every record once', async () => {
    const { container, produce, delivered, base } = await setUp()
    await produce(0, numbers(0, 500))
    await produce(1, numbers(500, 900))
    const bell = {
      kind: 'event',
      topic: base.source,
      partitions: [
        { partition: 0, firstOffset: 0n, lastOffset: 499n, records: () => [] },
        { partition: 1, firstOffset: 0n, lastOffset: 399n, records: () => [] },
      ],
    } as const
    const reports = await Promise.all([ring(container(), bell), ring(container(), bell)])
    expect(reports.map(({ ok }) => ok)).toEqual([true, true])
    expect((await delivered()).sort()).toEqual(numbers(0, 900).sort())
  })

  test('small windows commit one after another and keep the order of a partition', async () => {
    const { container, produce, delivered } = await setUp({
      relay: { window: { recordsMax: 7, bytesMax: 1 << 20, msMax: 5000 } },
    })
    await produce(0, numbers(0, 100))
    const began = systemClock.now()
    expect(await ring(container())).toMatchObject({ ok: true, lanes: [{ windows: 15 }, { windows: 0 }] })
    expect(await delivered()).toEqual(numbers(0, 100))
    expect(systemClock.now() - began).toBeLessThan(15_000)
  })
})
