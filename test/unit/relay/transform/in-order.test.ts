import { setImmediate as nextTurn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { bytes, defineRelay, json, retryWindow, string, topic } from '../../../../lib/index.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { failure, record, records, startRelay, transformWindow } from '../../../helpers/relay-window.ts'

const text = {
  source: topic('source', string()),
  outputs: { out: topic('out', string()), other: topic('other', string()) },
}

describe('a transform', () => {
  test('filters, maps, flat-maps and routes, in source order', async () => {
    const relay = defineRelay({
      name: 'all',
      ...text,
      transform({ value }, { emit }) {
        if (value === 'drop') return
        if (value.startsWith('o')) return emit.other(value)
        emit.out(value)
        emit.out(value.toUpperCase())
      },
    })
    const outcome = await transformWindow(relay, records('a', 'drop', 'other', 'b'))
    expect(outcome.texts('out')).toEqual(['a', 'A', 'b', 'B'])
    expect(outcome.texts('other')).toEqual(['other'])
    expect(outcome.counts).toEqual({ records: 4, outputs: 5, deadLetters: 0, skipped: 0 })
  })

  test('sees where a record stands, its bytes, and an id that is the same whenever it is tried again', async () => {
    const seen: unknown[] = []
    const relay = defineRelay({
      name: 'look',
      source: topic('source', json<{ a: number }>(), { key: string() }),
      outputs: text.outputs,
      transform: ({ topic, partition, offset, timestamp, id, key, value, headers, raw }) => {
        seen.push({ topic, partition, offset, timestamp, id, key, value, headers, raw: raw.value?.toString() })
      },
    })
    await transformWindow(relay, [record('{"a":1}', { partition: 3, offset: 12n, timestampMs: -1, key: null })])
    expect(seen).toEqual([
      {
        topic: 'source',
        partition: 3,
        offset: 12n,
        timestamp: -1,
        id: 'source/3/12',
        key: null,
        value: { a: 1 },
        headers: [],
        raw: '{"a":1}',
      },
    ])
  })

  test('may be a method that uses its definition', async () => {
    const relay = defineRelay({
      name: 'this',
      ...text,
      transform(_record, { emit }) {
        emit.out(String(this.name))
      },
    })
    expect((await transformWindow(relay, records('a'))).texts('out')).toEqual(['this'])
  })

  test('that is async is awaited record by record where the relay has no async settings', async () => {
    const order: string[] = []
    const relay = defineRelay({
      name: 'awaited',
      ...text,
      async transform({ value }, { emit }) {
        order.push(`begin ${value}`)
        await nextTurn()
        emit.out(value)
        order.push(`end ${value}`)
      },
    })
    expect((await transformWindow(relay, records('a', 'b'))).texts('out')).toEqual(['a', 'b'])
    expect(order).toEqual(['begin a', 'end a', 'begin b', 'end b'])
  })
})

test('a promise of another realm, no instance of ours, is awaited all the same', async () => {
  const ForeignPromise: PromiseConstructor = runInNewContext('Promise')
  const relay = defineRelay({
    name: 'foreign',
    ...text,
    transform: ({ value }, { emit }) =>
      new ForeignPromise<void>((resolve) => setImmediate(() => resolve(emit.out(value)))),
  })
  expect((await transformWindow(relay, records('a', 'b'))).texts('out')).toEqual(['a', 'b'])
})

describe('work that was not awaited', () => {
  test('cannot emit into the record that is transformed meanwhile, and its window is not committed', async () => {
    let leak = () => {}
    const relay = defineRelay({
      name: 'leak',
      ...text,
      transform({ value }, { emit }) {
        if (value === 'a') leak = () => emit.out('leaked')
        else leak()
      },
      onError: 'skip',
    })
    expect(await failure(transformWindow(relay, records('a', 'b')))).toMatchObject({
      code: 'EMIT_TOO_LATE',
      disposition: 'stop-lane',
      message: expect.stringContaining('emit.out for record source/0/0'),
    })
  })

  test('that emits after its window was committed stops the relay before the next one', async () => {
    let leak = () => {}
    const relay = defineRelay({
      name: 'leak',
      ...text,
      transform: (_record, { emit }) => {
        leak = () => emit.out('leaked')
      },
    })
    const window = await startRelay(relay)
    await window(records('a'))
    expect(leak).toThrow('await everything that emits before the transform returns')
    expect(await failure(window(records('b')))).toMatchObject({ code: 'EMIT_TOO_LATE' })
  })

  test('of a call that threw stops nothing: its record is rejected, whatever it emits', async () => {
    let leak = () => {}
    const relay = defineRelay({
      name: 'leak',
      ...text,
      onError: 'skip',
      transform: (_record, { emit }) => {
        leak = () => emit.out('leaked')
        throw new Error('no')
      },
    })
    const window = await startRelay(relay)
    await window(records('a'))
    expect(leak).toThrow('EMIT_TOO_LATE')
    expect((await window(records('b'))).counts).toMatchObject({ records: 1, skipped: 1 })
  })
})

describe('a transform that asks for the window to be tried again', () => {
  test.each([
    [
      'synchronously',
      () => {
        throw retryWindow('the service is down')
      },
    ],
    [
      'asynchronously',
      async () => {
        throw retryWindow('the service is down')
      },
    ],
  ])('rejects no record (%s)', async (_how, transform) => {
    const relay = defineRelay({ name: 'retry', ...text, deadLetters: topic('dead'), transform })
    expect(await failure(transformWindow(relay, records('a')))).toMatchObject({
      code: 'TRANSFORM_RETRY',
      disposition: 'retry',
      message: 'TRANSFORM_RETRY: the service is down',
    })
  })
})

/** Time passes while code works, too. */
class WorkingClock extends VirtualClock {
  #workedMs = 0

  override now(): number {
    return super.now() + this.#workedMs
  }

  work(ms: number): void {
    this.#workedMs += ms
  }
}

describe('time', () => {
  test('a long window gives way every 10 ms of work, so that leases are renewed', async () => {
    const clock = new WorkingClock()
    let turns = 0
    const yieldNow = async () => {
      turns++
    }
    const relay = defineRelay({ name: 'slow', ...text, transform: () => clock.work(3) })
    await transformWindow(relay, records(...Array.from({ length: 40 }, () => 'x')), { clock, yieldNow })
    expect(turns).toBe(10)
  })

  test('a window whose time is over is given up between records, even if no timer could run', async () => {
    const clock = new WorkingClock()
    let calls = 0
    const relay = defineRelay({
      name: 'slow',
      ...text,
      transform: () => {
        calls++
        clock.work(30)
      },
    })
    const outcome = transformWindow(relay, records('a', 'b', 'c'), {
      clock,
      timeMs: 50,
      yieldNow: async () => undefined,
    })
    expect(await failure(outcome)).toMatchObject({ code: 'TRANSFORM_TIMED_OUT', disposition: 'retry' })
    expect(calls).toBe(2)
  })

  test('an async transform that never ends is told by its signal and given up when the window has no time left', async () => {
    const clock = new VirtualClock()
    let reason: unknown
    const relay = defineRelay({
      name: 'endless',
      ...text,
      onError: 'skip',
      transform: (_record, { signal }) =>
        new Promise<void>(() =>
          signal.addEventListener('abort', () => {
            reason = signal.reason
          }),
        ),
    })
    const work = transformWindow(relay, records('a'), { clock, timeMs: 1_000 })
    const error = await failure(clock.run(work))
    expect(error).toMatchObject({ code: 'TRANSFORM_TIMED_OUT' })
    expect(reason).toBe(error)
    expect(clock.sleeping).toBe(0)
  })

  test('a window that never waits starts no timer', async () => {
    const clock = new VirtualClock()
    let sleeping = -1
    const relay = defineRelay({
      name: 'quick',
      ...text,
      transform: () => {
        sleeping = clock.sleeping
      },
    })
    await transformWindow(relay, records('a'), { clock })
    expect(sleeping).toBe(0)
  })
})

test('windows of several lanes may be on their way at once without meeting', async () => {
  const relay = defineRelay({
    name: 'lanes',
    source: topic('source', bytes()),
    outputs: { out: topic('out') },
    async transform(source, { emit }) {
      await nextTurn()
      emit.out(source.value)
    },
  })
  const window = await startRelay(relay)
  const [a, b] = await Promise.all([window(records('a1', 'a2')), window(records('b1', 'b2'))])
  expect(a?.texts('out')).toEqual(['a1', 'a2'])
  expect(b?.texts('out')).toEqual(['b1', 'b2'])
})
