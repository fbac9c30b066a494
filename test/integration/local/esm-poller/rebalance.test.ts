import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Poller, startPoller } from '../../../../lib/local/esm-poller/poller.ts'
import type { PollerEvent } from '../../../../lib/local/esm-poller/poller-event.ts'
import type { PollerOptions } from '../../../../lib/local/esm-poller/poller-options.ts'
import { testFunctions } from '../../../helpers/lambda-functions.ts'
import { addPartitions, committedOffsets, produce } from '../../../helpers/producing.ts'
import { freshName, kafkaBrokers } from '../../../helpers/stack.ts'
import { createTopic } from '../../../helpers/topics.ts'
import { failed, places, succeeded, WatchedFunction } from '../../../helpers/watched-function.ts'

let brokers: readonly string[]
let running: Poller[] = []

beforeAll(async () => {
  brokers = await kafkaBrokers('4.1')
})
afterEach(async () => {
  await Promise.all(running.map((poller) => poller.stop('abandon')))
  running = []
})

async function start(
  topic: string,
  options: Partial<PollerOptions> & Pick<PollerOptions, 'function'>,
): Promise<Poller> {
  const poller = await startPoller({
    brokers,
    topic,
    group: freshName('esm'),
    backOff: { minMs: 10, maxMs: 50 },
    batchingWindowMs: 50,
    ...options,
  })
  running.push(poller)
  return poller
}

const numbered = (count: number, partition: number) =>
  Array.from({ length: count }, (_, index) => ({ partition, value: `${partition}/${index}` }))

const everyPlace = (partitions: number, count: number) =>
  Array.from({ length: partitions }, (_, partition) => places(partition, count)).flat()

describe('rebalances', () => {
  test('a partition that moves is delivered by its new poller while the old invocation still runs', async () => {
    const topic = await createTopic(brokers, 'esm-moves', { partitions: 2 })
    const group = freshName('esm')
    await produce(brokers, topic, [...numbered(5, 0), ...numbered(5, 1)])
    const gate = Promise.withResolvers<void>()
    const watched = new WatchedFunction(async (_, nth) => {
      if (nth === 1) await gate.promise
      return succeeded()
    })
    const events: PollerEvent[] = []
    const poller = await start(topic, {
      function: watched.invoke,
      group,
      batchSize: 10,
      onEvent: (event) => events.push(event),
    })
    await watched.until((calls) => calls.length === 1)
    expect(watched.calls[0]?.records).toHaveLength(10)
    await poller.scale(2)
    await watched.until(() => watched.ended.length === 1)
    const [old, moved] = watched.calls
    expect(old?.endedAtMs).toBeNull()
    expect(moved?.records).toHaveLength(5)
    expect(old?.records).toEqual(expect.arrayContaining([...(moved?.records ?? ['none'])]))
    gate.resolve()
    await expect
      .poll(() => committedOffsets(brokers, group, topic))
      .toEqual(
        new Map([
          [0, 5],
          [1, 5],
        ]),
      )
    expect(poller.stats().rebalances).toBeGreaterThanOrEqual(1)
    expect(poller.assignment().flat().sort()).toEqual([0, 1])
    const movedPartition = Number(moved?.records[0]?.split('@')[0])
    const commits = events.flatMap((event) => (event.kind === 'committed' ? [event] : []))
    expect(commits.filter(({ poller: by, offsets }) => by === 0 && offsets.get(movedPartition) === 5n)).toEqual([])
  })

  test('members share the partitions; fewer members take all of them over, from the last commit on', async () => {
    const topic = await createTopic(brokers, 'esm-scale', { partitions: 4 })
    const watched = new WatchedFunction()
    const poller = await start(topic, { function: watched.invoke, pollers: 3 })
    await expect
      .poll(() =>
        poller
          .assignment()
          .map((partitions) => partitions.length)
          .sort(),
      )
      .toEqual([1, 1, 2])
    await produce(
      brokers,
      topic,
      [0, 1, 2, 3].flatMap((partition) => numbered(3, partition)),
    )
    await watched.until(() => watched.delivered.length === 12)
    await poller.scale(1)
    await expect.poll(() => poller.assignment()).toEqual([[0, 1, 2, 3]])
    await produce(brokers, topic, numbered(1, 3))
    await watched.until(() => watched.delivered.length === 13)
    expect([...watched.delivered].sort()).toEqual([...everyPlace(4, 3), '3@3'].sort())
  })

  test('a failing batch whose partition moves away is not delivered again from here', async () => {
    const topic = await createTopic(brokers, 'esm-gives-up', { partitions: 2 })
    await produce(brokers, topic, [...numbered(2, 0), ...numbered(2, 1)])
    const events: PollerEvent[] = []
    const watched = new WatchedFunction(() => failed('never'))
    const poller = await start(topic, {
      function: watched.invoke,
      batchSize: 4,
      onEvent: (event) => events.push(event),
    })
    await watched.until((calls) => calls.length >= 2)
    await poller.scale(2)
    const [kept] = poller.assignment()
    expect(kept).toHaveLength(1)
    const since = events.length
    await watched.until(() => events.slice(since).filter((event) => event.kind === 'invoking').length >= 8)
    const byFirst = events
      .slice(since)
      .flatMap((event) => (event.kind === 'invoking' && event.poller === 0 ? [event] : []))
    // The invocation that ran during the rebalance may still have carried both.
    for (const { ranges } of byFirst.slice(1)) expect(ranges.map(({ partition }) => partition)).toEqual(kept)
  })

  test('partitions added later are found and delivered from their start', async () => {
    const topic = await createTopic(brokers, 'esm-added')
    const watched = new WatchedFunction()
    const poller = await start(topic, { function: watched.invoke, startingPosition: 'TRIM_HORIZON' })
    await addPartitions(brokers, topic, 2)
    await produce(brokers, topic, numbered(2, 1))
    await watched.until(() => watched.delivered.length === 2)
    expect(watched.delivered).toEqual(['1@0', '1@1'])
    expect(poller.assignment()).toEqual([[0, 1]])
  })
})

describe('faults made on purpose', () => {
  test('duplicates: the same event again, after or beside the first; nothing is lost', async () => {
    const topic = await createTopic(brokers, 'esm-duplicates')
    await produce(brokers, topic, numbered(20, 0))
    const watched = new WatchedFunction(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return succeeded()
    })
    const chaos = { seed: 7, duplicate: 1 }
    const poller = await start(topic, { function: watched.invoke, batchSize: 2, chaos })
    await watched.until(() => watched.ended.length === 20)
    expect(poller.stats().duplicates).toBe(10)
    const counts = Map.groupBy(watched.delivered, (place) => place)
    expect([...counts].map(([place, times]) => [place, times.length])).toEqual(places(0, 20).map((place) => [place, 2]))
    const pairs = [...Map.groupBy(watched.calls, ({ records }) => records[0]).values()]
    const overlapping = pairs.filter(([a, b]) => a && b && b.startedAtMs < (a.endedAtMs ?? 0))
    expect(overlapping.length).toBeGreaterThan(0)
    expect(overlapping.length).toBeLessThan(10)
  })

  test('overlaps whenever it can: every other delivery is heard, and all is committed', async () => {
    const topic = await createTopic(brokers, 'esm-always-overlaps')
    await produce(brokers, topic, numbered(20, 0))
    const watched = new WatchedFunction()
    const group = freshName('esm')
    const poller = await start(topic, {
      function: watched.invoke,
      group,
      batchSize: 5,
      batchingWindowMs: 0,
      chaos: { seed: 1, overlap: 1 },
    })
    await expect.poll(() => committedOffsets(brokers, group, topic), { timeout: 10_000 }).toEqual(new Map([[0, 20]]))
    const { overlaps, succeeded: heard } = poller.stats()
    expect(overlaps).toBeGreaterThanOrEqual(4)
    expect(Math.abs(overlaps - heard), 'one heard for each that is not').toBeLessThanOrEqual(1)
  })

  test('overlaps: records come again in other batches while the first invocation runs; order holds from the last one on', async () => {
    const topic = await createTopic(brokers, 'esm-overlaps')
    await produce(brokers, topic, numbered(40, 0))
    const gate = Promise.withResolvers<void>()
    const watched = new WatchedFunction(async (_, nth) => {
      if (nth === 1) await gate.promise
      return succeeded()
    })
    const chaos = { seed: 3, overlap: 0.5 }
    const poller = await start(topic, { function: watched.invoke, batchSize: 8, chaos })
    await expect.poll(() => poller.stats().recordsDelivered).toBe(40)
    gate.resolve()
    expect(poller.stats().overlaps).toBeGreaterThan(0)
    expect([...new Set(watched.delivered)]).toEqual(places(0, 40))
    expect(watched.delivered.length).toBeGreaterThan(40)
  })

  test('reordering: partitions overtake each other, records of one partition never', async () => {
    const topic = await createTopic(brokers, 'esm-reorders', { partitions: 3 })
    await produce(
      brokers,
      topic,
      [0, 1, 2].flatMap((partition) => numbered(30, partition)),
    )
    const watched = new WatchedFunction()
    const poller = await start(topic, { function: watched.invoke, batchSize: 30, chaos: { seed: 5, reorder: 1 } })
    await watched.until(() => watched.delivered.length === 90)
    expect(poller.stats().reorders).toBe(watched.calls.length)
    for (const partition of [0, 1, 2]) {
      expect(watched.delivered.filter((place) => place.startsWith(`${partition}@`))).toEqual(places(partition, 30))
    }
  })
})

test('the older broker is a group coordinator all the same', async () => {
  const older = await kafkaBrokers('3.9')
  const topic = await createTopic(older, 'esm-older', { partitions: 2 })
  await produce(older, topic, [...numbered(2, 0), ...numbered(2, 1)])
  const watched = new WatchedFunction()
  const group = freshName('esm')
  await start(topic, { brokers: older, function: watched.invoke, group, pollers: 2 })
  await watched.until(() => new Set(watched.delivered).size === 4)
  await expect
    .poll(() => committedOffsets(older, group, topic))
    .toEqual(
      new Map([
        [0, 2],
        [1, 2],
      ]),
    )
})

test('a real function is driven to the end of the topic although its containers are killed', async () => {
  const topic = await createTopic(brokers, 'esm-lambda', { partitions: 2 })
  await produce(brokers, topic, [...numbered(20, 0), ...numbered(20, 1)])
  const functions = await testFunctions()
  const source = `export const handler = async (event) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return Object.values(event.records).flat().map(({ partition, offset }) => partition + '@' + offset)
  }`
  await functions.deploy('relay', source)
  const done = new Set<string>()
  let kills = 0
  const invoke = async (event: unknown) => {
    const running = functions.host.invoke('relay', event)
    const [victim] = functions.host.containers().filter(({ state }) => state === 'busy')
    if (victim && kills < 3 && functions.host.kill(victim.id, 'SIGKILL')) kills++
    const result = await running
    if (result.status === 'success') for (const place of result.payload as string[]) done.add(place)
    return result
  }
  const poller = await start(topic, { function: invoke, batchSize: 4, batchingWindowMs: 0 })
  await expect.poll(() => done.size, { timeout: 30_000 }).toBe(40)
  expect(kills).toBe(3)
  expect(poller.stats().failed).toBe(3)
  await poller.stop()
  await functions.stop()
})
