import { expect, test } from 'vitest'
import { RelayError } from '../../../../lib/errors.ts'
import type { FenceStop } from '../../../../lib/fencing/fence-record.ts'
import { RelayNews } from '../../../../lib/local/dev/relay-news.ts'
import type { InvokeResult } from '../../../../lib/local/lambda-host/invoke-result.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'

function scene(quietWhenIdle = false) {
  const clock = new VirtualClock()
  const began = clock.now()
  const lines: string[] = []
  const stops = new Map<string, FenceStop | Error>()
  const news = new RelayNews({
    quietWhenIdle,
    clock,
    stopOf: async (lane) => {
      const stop = stops.get(lane) ?? null
      if (stop instanceof Error) throw stop
      return stop
    },
    logOf: (container) => `logs/${container}.log`,
    say: (line) => lines.push(`${(clock.now() - began) / 1_000} s: ${line}`),
  })
  return { clock, lines, stops, news }
}

const success = (payload: object) => ({ status: 'success', payload }) as InvokeResult
const done = (windows: number, stopped: readonly string[] = [], deadLetters = 0) => {
  return success({ lanes: 1, windows, records: windows * 10, outputs: windows * 5, deadLetters, skipped: 0, stopped })
}
const failed = (errorType: string, errorMessage: string) =>
  ({ status: 'error', containerId: 'c1', payload: { errorType, errorMessage } }) as InvokeResult

test('the first invocation is told at once, all further ones of a second in one line', async () => {
  const { clock, lines, news } = scene()
  news.note(done(1))
  await clock.advance(200)
  for (const deadLetters of [0, 1, 0]) news.note(done(2, [], deadLetters))
  await clock.advance(5_000)
  expect(lines).toEqual([
    '0 s: 1 invocation ok, 10 records in 1 window: 5 outputs',
    '1 s: 3 invocations ok, 60 records in 6 windows: 30 outputs, 1 dead letter',
  ])
})

test('a failure is told with its reason, and a new one with the log that has all of it', async () => {
  const { clock, lines, news } = scene()
  news.note(failed('RelayError', 'TOPIC_MISSING: topic x does not exist'))
  await clock.advance(200)
  news.note(done(1))
  news.note(failed('Runtime.ExitError', 'Runtime exited'))
  await clock.advance(1_000)
  news.note(failed('Runtime.ExitError', 'Runtime exited'))
  await clock.advance(1_000)
  expect(lines).toEqual([
    '0 s: 1 invocation failed: TOPIC_MISSING: topic x does not exist',
    '0 s:   log: logs/c1.log',
    '1 s: 1 invocation ok, 10 records in 1 window: 5 outputs; 1 invocation failed: Runtime.ExitError: Runtime exited',
    '1 s:   log: logs/c1.log',
    '2 s: 1 invocation failed: Runtime.ExitError: Runtime exited',
  ])
})

test('a stopped lane is told once with code and fix, and again when it has stopped anew', async () => {
  const { clock, lines, stops, news } = scene()
  const stoppedAt = (atMs: number) => ({ code: 'OFFSET_MOVED', message: 'OFFSET_MOVED: put it back', atMs })
  stops.set('dev.r.t.0', stoppedAt(1))
  news.note(done(0, ['dev.r.t.0: OFFSET_MOVED']))
  await clock.advance(1_000)
  news.note(done(0, ['dev.r.t.0: OFFSET_MOVED']))
  await clock.advance(1_000)
  stops.set('dev.r.t.0', stoppedAt(2))
  news.note(done(0, ['dev.r.t.0: OFFSET_MOVED']))
  await clock.advance(1_000)
  expect(lines.filter((line) => line.includes('stopped'))).toEqual([
    '0 s: lane dev.r.t.0 has stopped: OFFSET_MOVED: put it back',
    '2 s: lane dev.r.t.0 has stopped: OFFSET_MOVED: put it back',
  ])
})

test('a stop whose record cannot be read is told all the same', async () => {
  const { clock, lines, stops, news } = scene()
  stops.set('dev.r.t.0', new RelayError('FENCE_STORE_UNAVAILABLE', 'no answer'))
  news.note(done(0, ['dev.r.t.0: OFFSET_MOVED']))
  await clock.advance(0)
  expect(lines.at(-1)).toContain('dev.r.t.0 has stopped; why cannot be read: FENCE_STORE_UNAVAILABLE: no answer')
})

test('a schedule that finds nothing to do is no news', async () => {
  const { clock, lines, news } = scene(true)
  news.note(done(0))
  news.note(done(0))
  await clock.advance(2_000)
  news.note(done(3))
  await clock.advance(2_000)
  expect(lines).toEqual(['2 s: 1 invocation ok, 30 records in 3 windows: 15 outputs'])
})

test('a schedule that meets a stopped lane time after time tells of the stop alone', async () => {
  const { clock, lines, stops, news } = scene(true)
  stops.set('dev.r.t.0', { code: 'OFFSET_MOVED', message: 'OFFSET_MOVED: put it back', atMs: 1 })
  for (let turns = 0; turns < 3; turns++) {
    news.note(done(0, ['dev.r.t.0: OFFSET_MOVED']))
    await clock.advance(1_500)
  }
  expect(lines).toEqual(['0 s: lane dev.r.t.0 has stopped: OFFSET_MOVED: put it back'])
})

test('what waits for its line at the end is told then', async () => {
  const { clock, lines, news } = scene()
  news.note(done(1))
  await clock.advance(100)
  news.note(done(1))
  await news.end()
  expect(lines).toHaveLength(2)
})
