import { expect, test } from 'vitest'
import { startSchedule } from '../../../lib/local/schedule.ts'
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts'

test('the first invocation comes at once, the others at even intervals however long they take', async () => {
  const clock = new VirtualClock()
  const startMs = clock.now()
  const startedAtMs: number[] = []
  const invoke = async () => {
    startedAtMs.push(clock.now() - startMs)
    await clock.sleep(40)
  }
  const schedule = startSchedule({ everyMs: 100, invoke, clock })
  await clock.advance(350)
  expect(startedAtMs).toEqual([0, 100, 200, 300])
  await clock.run(schedule.stop())
})

test('the first turn may come later', async () => {
  const clock = new VirtualClock()
  const invoke = async () => undefined
  const schedule = startSchedule({ everyMs: 100, firstAfterMs: 250, invoke, clock })
  await clock.advance(249)
  expect(schedule.stats().invoked).toBe(0)
  await clock.advance(101)
  expect(schedule.stats().invoked).toBe(2)
  await clock.run(schedule.stop())
})

test('a turn that comes while the last invocation runs is skipped, unless overlap is asked for', async () => {
  const clock = new VirtualClock()
  const invoke = () => clock.sleep(250)
  const plain = startSchedule({ everyMs: 100, invoke, clock })
  const overlapping = startSchedule({ everyMs: 100, invoke, overlap: true, clock })
  await clock.advance(550)
  expect(plain.stats()).toEqual({ invoked: 2, skipped: 4 })
  expect(overlapping.stats()).toEqual({ invoked: 6, skipped: 0 })
  await clock.run(Promise.all([plain.stop(), overlapping.stop()]))
})

test('a failing invocation does not end the schedule', async () => {
  const clock = new VirtualClock()
  const schedule = startSchedule({ everyMs: 100, invoke: async () => Promise.reject(new Error('down')), clock })
  await clock.advance(250)
  expect(schedule.stats().invoked).toBe(3)
  await clock.run(schedule.stop())
})

test('stopping waits for what runs and begins nothing more', async () => {
  const clock = new VirtualClock()
  let ended = 0
  const invoke = async () => {
    await clock.sleep(80)
    ended++
  }
  const schedule = startSchedule({ everyMs: 100, invoke, clock })
  await clock.advance(10)
  await clock.run(schedule.stop())
  await clock.advance(1_000)
  expect(schedule.stats()).toEqual({ invoked: 1, skipped: 0 })
  expect(ended).toBe(1)
})
