import { expect, test } from 'vitest'
import type { Fault } from '../../../../lib/local/chaos/fault.ts'
import { pause, untilHit } from '../../../../lib/local/chaos/fault.ts'
import { type FaultEvent, runFaults } from '../../../../lib/local/chaos/fault-schedule.ts'
import { seededRandom } from '../../../../lib/testing/seeded-random.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'

function scene(faults: (clock: VirtualClock) => readonly Fault[]) {
  const clock = new VirtualClock()
  const over = new AbortController()
  const ended: FaultEvent[] = []
  const beganMs = clock.now()
  const run = (everyMs: number, forMs: number) =>
    runFaults({
      faults: faults(clock),
      everyMs,
      forMs,
      clock,
      random: seededRandom(1),
      signal: over.signal,
      began: () => undefined,
      ended: (event) => ended.push(event),
    })
  return { clock, over, ended, beganMs, run }
}

const lasting = (clock: VirtualClock, name: string, ms: number): Fault => ({
  name,
  strikes: name,
  fire: async (signal) => {
    await pause(clock, ms, signal)
    return signal.aborted ? null : 'hit'
  },
})

test('a fault comes every 30 s for 10 minutes: 20 of them', async () => {
  const it = scene((clock) => [lasting(clock, 'a', 100)])
  const running = it.run(30_000, 600_000)
  await it.clock.advance(600_000)
  const events = await running
  expect(events).toHaveLength(20)
  expect(events.map(({ beganMs }) => beganMs - it.beganMs).slice(0, 2)).toEqual([15_000, 45_000])
})

test('faults run beside each other, one kind never beside itself, and the last is waited for', async () => {
  const it = scene((clock) => [lasting(clock, 'long', 25_000), lasting(clock, 'short', 1_000)])
  const running = it.run(10_000, 30_000)
  await it.clock.advance(60_000)
  const events = await running
  const long = events.filter(({ name }) => name === 'long')
  expect(long.length).toBeGreaterThanOrEqual(1)
  expect(events.length).toBeGreaterThan(long.length)
  for (const [index, event] of long.entries()) {
    expect(event.beganMs).toBeGreaterThanOrEqual(long[index - 1]?.endedMs ?? 0)
  }
})

test('a kind that has hit nothing gets one more turn at the end, and only such a kind', async () => {
  let turns = 0
  const shy: Fault = { name: 'shy', strikes: 'shy', fire: async () => (++turns > 1 ? 'hit at last' : null) }
  const it = scene((clock) => [shy, lasting(clock, 'a', 100)])
  const running = it.run(10_000, 20_000)
  await it.clock.advance(40_000)
  const events = (await running).map(({ name, hit }) => `${name}: ${hit}`)
  expect(events.toSorted()).toEqual(['a: hit', 'shy: hit at last', 'shy: null'])
})

test('an abort ends faults under way at once; they have hit nothing', async () => {
  const it = scene((clock) => [lasting(clock, 'a', 60_000)])
  const running = it.run(10_000, 300_000)
  await it.clock.advance(6_000)
  it.over.abort()
  const events = await running
  expect(events).toMatchObject([{ name: 'a', hit: null }])
  expect(it.clock.now() - it.beganMs).toBe(6_000)
})

test('a fault that fails itself fails the run, by name', async () => {
  const broken: Fault = { name: 'broken', strikes: 'x', fire: () => Promise.reject(new Error('no such broker')) }
  const it = scene(() => [broken])
  const running = it.run(10_000, 10_000)
  running.catch(() => undefined)
  await it.clock.advance(20_000)
  await expect(running).rejects.toMatchObject({
    code: 'LOCAL_STACK',
    message: expect.stringMatching(/broken.*no such/),
  })
})

test('a fault waits until it has hit something, but not for ever, and stays its time from then on', async () => {
  const clock = new VirtualClock()
  const began = clock.now()
  const wait = async (hits: () => number) => {
    const done = untilHit(clock, { lastsMs: 1_000, patienceMs: 2_000 }, hits, new AbortController().signal)
    let atMs = 0
    const noted = done.then((hit) => {
      atMs = clock.now()
      return hit
    })
    const fromMs = clock.now()
    await clock.advance(5_000)
    return { hit: await noted, tookMs: atMs - fromMs }
  }
  expect(await wait(() => 1)).toEqual({ hit: true, tookMs: 1_000 })
  const late = clock.now() + 1_500
  expect(await wait(() => (clock.now() >= late ? 1 : 0))).toEqual({ hit: true, tookMs: 2_500 })
  expect(await wait(() => 0)).toMatchObject({ hit: false })
  expect(clock.now() - began).toBe(15_000)
})
