import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseKafkaEvent } from '../../../../lib/lambda/event.ts'
import { type Poller, startPoller } from '../../../../lib/local/esm-poller/poller.ts'
import type { PollerEvent } from '../../../../lib/local/esm-poller/poller-event.ts'
import type { PollerOptions } from '../../../../lib/local/esm-poller/poller-options.ts'
import { committedOffsets, produce, produceTransaction } from '../../../helpers/producing.ts'
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

async function start(topic: string, watched: WatchedFunction, options: Partial<PollerOptions> = {}): Promise<Poller> {
  const poller = await startPoller({
    brokers,
    topic,
    group: freshName('esm'),
    function: watched.invoke,
    backOff: { minMs: 10, maxMs: 50 },
    ...options,
  })
  running.push(poller)
  return poller
}

const numbered = (count: number, partition = 0) =>
  Array.from({ length: count }, (_, index) => ({ partition, value: `${partition}/${index}` }))

async function untilCommitted(group: string, topic: string, wanted: ReadonlyMap<number, number>): Promise<void> {
  await expect
    .poll(async () => committedOffsets(brokers, group, topic), { timeout: 10_000, interval: 50 })
    .toEqual(wanted)
}

describe('events', () => {
  test('carry records as Lambda encodes them, and parse back to what is in the log', async () => {
    const topic = await createTopic(brokers, 'esm-shape')
    const key = Buffer.from([0, 0xff])
    await produce(brokers, topic, [
      {
        key,
        value: Buffer.from([1, 200]),
        headers: { trace: [Buffer.from('ä'), 'b'], none: Buffer.alloc(0) },
        timestamp: '1700000000000',
      },
      { key: null, value: '' },
      { key: 'gone', value: null },
      { key: 'gone', value: null },
    ])
    const watched = new WatchedFunction()
    await start(topic, watched, { batchSize: 4 })
    await watched.until((calls) => calls.length === 1)
    const event = watched.calls[0]?.event
    expect(event).toMatchObject({ eventSource: 'SelfManagedKafka', bootstrapServers: brokers.join(',') })
    expect(event?.records[`${topic}-0`]?.[0]).toEqual({
      topic,
      partition: 0,
      offset: 0,
      timestamp: 1700000000000,
      timestampType: 'CREATE_TIME',
      key: 'AP8=',
      value: 'Acg=',
      headers: [{ trace: [-61, -92] }, { trace: [98] }, { none: [] }],
    })
    const [, empty, nulled, absent] = event?.records[`${topic}-0`] ?? []
    expect([empty?.value, nulled?.value]).toEqual(['', null])
    expect(absent).not.toHaveProperty('value')
    const bells = parseKafkaEvent(JSON.parse(JSON.stringify(event)))
    expect(bells[0]?.partitions[0]).toMatchObject({ firstOffset: 0n, lastOffset: 3n })
    expect(bells[0]?.partitions[0]?.records().map((record) => record.value)).toEqual([
      Buffer.from([1, 200]),
      Buffer.alloc(0),
      null,
      null,
    ])
  })

  test('hold several partitions, at most the batch size, everything once and in order', async () => {
    const topic = await createTopic(brokers, 'esm-batches', { partitions: 3 })
    await produce(brokers, topic, [...numbered(70, 0), ...numbered(70, 1), ...numbered(70, 2)])
    const watched = new WatchedFunction()
    const group = freshName('esm')
    const poller = await start(topic, watched, { batchSize: 60, group })
    await watched.until(() => watched.delivered.length === 210)
    expect(watched.calls.map(({ records }) => records.length)).toEqual([60, 60, 60, 30])
    expect(watched.calls.some(({ event }) => Object.keys(event.records).length > 1)).toBe(true)
    for (const partition of [0, 1, 2]) {
      const its = watched.delivered.filter((place) => place.startsWith(`${partition}@`))
      expect(its).toEqual(places(partition, 70))
    }
    await untilCommitted(
      group,
      topic,
      new Map([
        [0, 70],
        [1, 70],
        [2, 70],
      ]),
    )
    expect(poller.stats()).toMatchObject({
      invocations: 4,
      succeeded: 4,
      failed: 0,
      recordsDelivered: 210,
      redelivered: 0,
    })
  })

  test('stay below 6 MB of JSON, whatever the batch size', async () => {
    const topic = await createTopic(brokers, 'esm-large')
    for (let count = 0; count < 9; count++) await produce(brokers, topic, [{ value: Buffer.alloc(900_000, 65) }])
    const watched = new WatchedFunction()
    await start(topic, watched, { batchSize: 1000 })
    await watched.until(() => watched.delivered.length === 9)
    const sizes = watched.calls.map(({ event }) => Buffer.byteLength(JSON.stringify(event)))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(6 * 1024 * 1024)
    expect(watched.calls.map(({ records }) => records.length)).toEqual([5, 4])
  })

  test('never carry a record above 6 MB: it is counted and passed over, its neighbours are delivered', async () => {
    const topic = await createTopic(brokers, 'esm-oversized', { config: { 'max.message.bytes': '8000000' } })
    await produce(brokers, topic, [{ value: 'before' }])
    await produce(brokers, topic, [{ value: Buffer.alloc(5_000_000, 65) }])
    await produce(brokers, topic, [{ value: 'after' }])
    const watched = new WatchedFunction()
    const events: PollerEvent[] = []
    const group = freshName('esm')
    const poller = await start(topic, watched, { group, onEvent: (event) => events.push(event) })
    await watched.until(() => watched.delivered.length === 2)
    expect(watched.delivered).toEqual(['0@0', '0@2'])
    expect(poller.stats().oversized).toBe(1)
    expect(events).toContainEqual(expect.objectContaining({ kind: 'oversized', partition: 0, offset: 1n }))
    await untilCommitted(group, topic, new Map([[0, 3]]))
  })

  test('wait for the batching window when they are not full, and go at once when they are', async () => {
    const topic = await createTopic(brokers, 'esm-window')
    const patient = new WatchedFunction()
    await start(topic, patient, { batchSize: 3, batchingWindowMs: 300_000 })
    const waiting = new WatchedFunction()
    await start(topic, waiting, { batchSize: 4, batchingWindowMs: 400 })
    const producedAtMs = Date.now()
    await produce(brokers, topic, numbered(3))
    await patient.until((calls) => calls.length === 1)
    await waiting.until((calls) => calls.length === 1)
    expect(patient.calls[0]?.records).toEqual(places(0, 3))
    expect(waiting.calls[0]?.records).toEqual(places(0, 3))
    expect(Number(waiting.calls[0]?.startedAtMs) - producedAtMs).toBeGreaterThanOrEqual(400)
  })

  test('pass over aborted records and markers without stalling, and the group moves behind them', async () => {
    const topic = await createTopic(brokers, 'esm-aborted')
    await produceTransaction(brokers, topic, numbered(5), 'abort')
    await produceTransaction(brokers, topic, numbered(2), 'commit')
    await produceTransaction(brokers, topic, numbered(3), 'abort')
    const watched = new WatchedFunction()
    const group = freshName('esm')
    await start(topic, watched, { group })
    await watched.until(() => watched.delivered.length === 2)
    expect(watched.delivered).toEqual(['0@6', '0@7'])
    await untilCommitted(group, topic, new Map([[0, 13]]))
    await produce(brokers, topic, numbered(1))
    await watched.until(() => watched.delivered.length === 3)
    expect(watched.delivered).toEqual(['0@6', '0@7', '0@13'])
  })
})

describe('failures', () => {
  test('the whole batch comes again until it succeeds, and nothing is committed before', async () => {
    const topic = await createTopic(brokers, 'esm-retry', { partitions: 2 })
    await produce(brokers, topic, [...numbered(3, 0), ...numbered(2, 1)])
    const group = freshName('esm')
    const seen: ReadonlyMap<number, number>[] = []
    const watched = new WatchedFunction(async (_, nth) => {
      seen.push(await committedOffsets(brokers, group, topic))
      if (nth === 1) throw new Error('the call fails')
      return nth < 4 ? failed('not yet') : succeeded()
    })
    const poller = await start(topic, watched, { group, batchSize: 5 })
    await watched.until(() => watched.ended.length === 4)
    for (const call of watched.calls) expect([...call.records].sort()).toEqual([...places(0, 3), ...places(1, 2)])
    expect(seen).toEqual(
      Array(4).fill(
        new Map([
          [0, 0],
          [1, 0],
        ]),
      ),
    )
    await untilCommitted(
      group,
      topic,
      new Map([
        [0, 3],
        [1, 2],
      ]),
    )
    expect(poller.stats()).toMatchObject({
      invocations: 4,
      failed: 3,
      redelivered: 3,
      succeeded: 1,
      recordsDelivered: 5,
    })
  })

  test('a refusal for concurrency backs off and is counted apart', async () => {
    const topic = await createTopic(brokers, 'esm-throttled')
    await produce(brokers, topic, numbered(1))
    const payload = { errorType: 'TooManyRequestsException', errorMessage: 'Rate Exceeded.', trace: [] }
    const watched = new WatchedFunction((_, nth) =>
      nth < 3 ? { status: 'refused', statusCode: 429, requestId: 'r', payload } : succeeded(),
    )
    const events: PollerEvent[] = []
    const poller = await start(topic, watched, { onEvent: (event) => events.push(event) })
    await watched.until(() => watched.ended.length === 3)
    expect(poller.stats()).toMatchObject({ throttled: 2, failed: 0 })
    const waits = events.flatMap((event) => (event.kind === 'will-redeliver' ? [event.backOffMs] : []))
    expect(waits).toHaveLength(2)
    expect(waits[0]).toBeGreaterThanOrEqual(5)
    expect(waits[1]).toBeGreaterThan(Number(waits[0]) / 2)
  })

  test('with item failures each partition goes back to its first failed offset, the rest is committed', async () => {
    const topic = await createTopic(brokers, 'esm-items', { partitions: 3 })
    await produce(brokers, topic, [...numbered(4, 0), ...numbered(4, 1), ...numbered(4, 2)])
    const group = freshName('esm')
    const failures = [
      { itemIdentifier: { partition: `${topic}-0`, offset: 3 } },
      { itemIdentifier: { partition: `${topic}-0`, offset: 1 } },
      { itemIdentifier: { partition: `${topic}-2`, offset: 0 } },
    ]
    const gate = Promise.withResolvers<void>()
    const watched = new WatchedFunction(async (_, nth) => {
      if (nth === 1) return succeeded({ batchItemFailures: failures })
      await gate.promise
      return succeeded({ batchItemFailures: [] })
    })
    await start(topic, watched, { group, batchSize: 12, reportBatchItemFailures: true })
    await watched.until((calls) => calls.length === 2)
    expect([...(watched.calls[1]?.records ?? [])].sort()).toEqual([...places(0, 3, 1), ...places(2, 4)])
    await untilCommitted(
      group,
      topic,
      new Map([
        [0, 1],
        [1, 4],
        [2, 0],
      ]),
    )
    gate.resolve()
    await untilCommitted(
      group,
      topic,
      new Map([
        [0, 4],
        [1, 4],
        [2, 4],
      ]),
    )
  })

  test('an identifier that names no record makes the whole batch fail; without the setting it is not read', async () => {
    const topic = await createTopic(brokers, 'esm-bad-items')
    await produce(brokers, topic, numbered(3))
    const bad = { batchItemFailures: [{ itemIdentifier: { partition: `${topic}-0`, offset: 99 } }] }
    const strict = new WatchedFunction((_, nth) => succeeded(nth === 1 ? bad : null))
    await start(topic, strict, { reportBatchItemFailures: true })
    await strict.until(() => strict.ended.length === 2)
    expect(strict.calls[1]?.records).toEqual(places(0, 3))
    const careless = new WatchedFunction(() => succeeded(bad))
    const group = freshName('esm')
    await start(topic, careless, { group })
    await untilCommitted(group, topic, new Map([[0, 3]]))
    expect(careless.calls).toHaveLength(1)
  })
})

describe('where it starts', () => {
  test('LATEST delivers what comes after the start, AT_TIMESTAMP what is not older; committed offsets win over both', async () => {
    const topic = await createTopic(brokers, 'esm-start')
    await produce(brokers, topic, [
      { value: 'a', timestamp: '1000' },
      { value: 'b', timestamp: '2000' },
    ])
    const group = freshName('esm')
    const latest = new WatchedFunction()
    const first = await start(topic, latest, { startingPosition: 'LATEST', group })
    const since = new WatchedFunction()
    await start(topic, since, { startingPosition: { atTimestampMs: 1500 } })
    await since.until(() => since.delivered.length === 1)
    await first.stop()
    await produce(brokers, topic, [{ value: 'c', timestamp: '3000' }])
    await since.until(() => since.delivered.length === 2)
    await start(topic, latest, { startingPosition: 'TRIM_HORIZON', group })
    await latest.until(() => latest.delivered.length === 1)
    expect(since.delivered).toEqual(['0@1', '0@2'])
    expect(latest.delivered).toEqual(['0@2'])
  })

  test('a topic that does not exist is refused by name', async () => {
    await expect(start('no-such-topic', new WatchedFunction())).rejects.toThrow(
      'The topic no-such-topic does not exist',
    )
  })
})

test('pausing holds back invocations, not the membership', async () => {
  const topic = await createTopic(brokers, 'esm-pause')
  const watched = new WatchedFunction()
  const poller = await start(topic, watched, { batchingWindowMs: 0 })
  poller.pause()
  await produce(brokers, topic, numbered(2))
  await expect.poll(() => poller.assignment()).toEqual([[0]])
  poller.resume()
  await watched.until(() => watched.delivered.length === 2)
  expect(watched.calls).toHaveLength(1)
})

test('stopping waits for the running invocation and commits it; the next start goes on behind it', async () => {
  const topic = await createTopic(brokers, 'esm-stop')
  await produce(brokers, topic, numbered(2))
  const group = freshName('esm')
  const gate = Promise.withResolvers<void>()
  const watched = new WatchedFunction(async () => {
    await gate.promise
    return succeeded()
  })
  const poller = await start(topic, watched, { group, batchSize: 1 })
  await watched.until((calls) => calls.length === 1)
  const stopped = poller.stop()
  gate.resolve()
  await stopped
  expect(await committedOffsets(brokers, group, topic)).toEqual(new Map([[0, 1]]))
  const second = new WatchedFunction()
  await start(topic, second, { group })
  await second.until(() => second.delivered.length === 1)
  expect(second.delivered).toEqual(['0@1'])
})
