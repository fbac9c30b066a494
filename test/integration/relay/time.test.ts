import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import type { RelayObserver } from '../../../lib/relay/observer.ts'
import { copyAfter } from '../../helpers/gates.ts'
import { hastyClock } from '../../helpers/hasty-clock.ts'
import { clusterThrough, proxyBefore } from '../../helpers/kafka-proxy.ts'
import { copyRelay, type Names, relayWorld } from '../../helpers/relay-world.ts'
import { failureOf, onlyLane, ring } from '../../helpers/ringing.ts'

describe.each(kafkaVersions)('a function that runs out of time, Kafka %s', (version) => {
  test('before a window: those before it stand, the next ring goes on behind them', async () => {
    const { container, produce, delivered } = await relayWorld({ version })
    const values = await produce(12)
    const clock = hastyClock()
    const dear = (value: string) => (value === 'v7' ? clock.skip(50_000) : undefined)
    const window = { recordsMax: 4, bytesMax: 1 << 20, msMax: 600_000 }
    const runtime = await container({ clock, define: (names) => ({ ...copyAfter(dear)(names), window }) })
    const failure = await failureOf(ring(runtime, undefined, 60_000))
    expect(failure).toMatchObject({ code: 'OUT_OF_TIME', disposition: 'retry', outcome: 'not-applied' })
    expect(failure.message).toMatch(/\d+ ms are left, a window and its commit need 5\d\d\d\d ms/)
    expect(failure.message).toContain('the next ring goes on from the committed position')
    expect(await delivered()).toEqual(values.slice(0, 8))
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done', windows: 1 })
    expect(await delivered()).toEqual(values)
  })

  test('in a transform that never ends: it gives up in order, and says what took the time', async () => {
    const { container, produce, delivered } = await relayWorld({ version })
    const values = await produce(4)
    const stuck = await container({ define: copyAfter(() => new Promise(() => undefined)) })
    const failure = await failureOf(ring(stuck, undefined, 2_500))
    expect(failure).toMatchObject({ code: 'TRANSFORM_TIMED_OUT', disposition: 'retry', outcome: 'not-applied' })
    expect(failure.message).toContain('was not done when its time was up; lower window.records, raise')
    expect(await delivered()).toEqual([])
    expect(onlyLane(await ring(await container()))).toMatchObject({ kind: 'done' })
    expect(await delivered()).toEqual(values)
  })

  test('before the commit: the transaction is aborted, the next ring relays the window', async () => {
    const { container, produce, delivered, brokers } = await relayWorld({ version })
    const values = await produce(5)
    const clock = hastyClock()
    const proxy = await proxyBefore(brokers)
    const late = proxy.before('Produce', async () => clock.skip(59_600))
    const runtime = await container({ clock, cluster: clusterThrough(brokers, proxy) })
    const failure = await failureOf(ring(runtime, undefined, 60_000))
    expect(late.fired).toBe(1)
    expect(failure).toMatchObject({ code: 'OUT_OF_TIME', disposition: 'retry', outcome: 'not-applied' })
    expect(failure.message).toMatch(/\d+ ms are left, a commit needs 500 ms; the window is relayed at the next ring/)
    expect(await delivered()).toEqual([])
    expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
    expect(await delivered()).toEqual(values)
  })
})

test('a transform that is too slow for a whole window is given smaller ones, from ring to ring, until they fit', async () => {
  const { container, produce, delivered } = await relayWorld()
  const values = await produce(40)
  const runtime = await container({ define: copyAfter(() => systemClock.sleep(50)) })
  const codes: string[] = []
  for (let done = false; !done && codes.length < 15; ) {
    const end = onlyLane(await ring(runtime, undefined, 2_000))
    done = end.kind === 'done'
    codes.push(end.kind === 'failed' ? end.error.code : end.kind)
  }
  expect(codes[0]).toBe('TRANSFORM_TIMED_OUT')
  expect(codes.at(-1)).toBe('done')
  expect(await delivered()).toEqual(values)
})

test('a lingering pull relays what comes while its time lasts, in windows that keep their distance', async () => {
  const commitEveryMs = 300
  const define = (names: Names) => ({ ...copyRelay(names), commitEveryMs })
  const { container, produce, delivered } = await relayWorld({ define })
  const committedAtMs: number[] = []
  const observer: RelayObserver = { windowCommitted: () => committedAtMs.push(runtime.clock.now()) }
  const runtime = await container({ observer })
  const { clock } = runtime
  const values = await produce(3)
  const untilMs = clock.now() + 3_000
  const ringing = ring(runtime, { kind: 'pull', lingerUntilMs: untilMs })
  while (clock.now() < untilMs - 1_000) values.push(...(await produce(2)))
  expect(onlyLane(await ringing)).toMatchObject({ kind: 'done' })
  expect(clock.now()).toBeLessThan(untilMs + 1_000)
  expect(await delivered()).toEqual(values)
  const gapsMs = committedAtMs.slice(1).map((atMs, index) => atMs - (committedAtMs[index] ?? 0))
  expect(gapsMs.length).toBeGreaterThan(1)
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(commitEveryMs)
})
