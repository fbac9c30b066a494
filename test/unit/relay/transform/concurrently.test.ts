import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineRelay, type RelayDefinition, retryWindow, string, topic } from '../../../../lib/index.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { failure, records, transformWindow } from '../../../helpers/relay-window.ts'

const outputs = { out: topic('out', string()) }
type Definition = RelayDefinition<ReturnType<typeof source>, typeof outputs, Record<never, never>>
const source = () => topic('source', string())

/** A relay over a service whose calls take virtual time. */
function relayOver(definition: Partial<Definition> & Pick<Definition, 'transform' | 'async'>) {
  return defineRelay({ name: 'async', source: source(), outputs, ...definition } as Definition)
}

describe('several calls at once', () => {
  test('give outputs, dead letters and counts in source order, whatever each call takes', async () => {
    const calls = fc.array(fc.record({ ms: fc.nat(50), fails: fc.boolean() }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 8 }), async (plan, concurrency) => {
        const clock = new VirtualClock()
        const relay = relayOver({
          async: { concurrency },
          deadLetters: topic('dead'),
          async transform({ value }, { emit, signal }) {
            const call = plan[Number(value)]
            emit.out(`${value} before`)
            await clock.sleep(call?.ms ?? 0, signal)
            if (call?.fails) throw new Error('no')
            emit.out(`${value} after`)
          },
        })
        const work = transformWindow(relay, records(...plan.map((_, index) => String(index))), { clock })
        const outcome = await clock.run(work)
        const indices = (fails: boolean) => plan.flatMap((call, index) => (call.fails === fails ? [index] : []))
        expect(outcome.texts('out')).toEqual(indices(false).flatMap((index) => [`${index} before`, `${index} after`]))
        expect(outcome.texts('dead')).toEqual(indices(true).map(String))
        expect(outcome.counts.records).toBe(plan.length)
        expect(clock.sleeping).toBe(0)
      }),
      { numRuns: 100 },
    )
  })

  test('are as many as the relay says, and never more', async () => {
    const clock = new VirtualClock()
    let running = 0
    let most = 0
    const relay = relayOver({
      async: { concurrency: 16 },
      async transform(_record, { signal }) {
        most = Math.max(most, ++running)
        await clock.sleep(10, signal)
        running--
      },
    })
    const beganMs = clock.now()
    await clock.run(transformWindow(relay, records(...Array(160).fill('x')), { clock }))
    expect(most).toBe(16)
    expect(clock.now() - beganMs).toBe(100)
  })
})

describe('a call that fails', () => {
  const failing = (failures: number, retries: number) => {
    const clock = new VirtualClock()
    const calledAtMs: number[] = []
    const beganMs = clock.now()
    const relay = relayOver({
      async: { concurrency: 2, retries },
      onError: 'skip',
      async transform({ value }, { emit }) {
        calledAtMs.push(clock.now() - beganMs)
        emit.out(`${value} ${calledAtMs.length}`)
        if (calledAtMs.length <= failures) throw new Error('no')
      },
    })
    return { outcome: clock.run(transformWindow(relay, records('a'), { clock })), calledAtMs }
  }

  test('is called again after 100 ms, then after twice as long each; only the last call emits', async () => {
    const { outcome, calledAtMs } = failing(2, 3)
    expect((await outcome).texts('out')).toEqual(['a 3'])
    expect(calledAtMs).toEqual([0, 100, 300])
  })

  test('rejects its record when it failed once more than it may', async () => {
    const { outcome, calledAtMs } = failing(9, 2)
    expect((await outcome).counts).toEqual({ records: 1, outputs: 0, deadLetters: 0, skipped: 1 })
    expect(calledAtMs).toHaveLength(3)
  })
})

describe('a call that takes too long', () => {
  test('is told by its own signal, called again, and never rejects its record', async () => {
    const clock = new VirtualClock()
    const signals: AbortSignal[] = []
    const relay = relayOver({
      async: { concurrency: 2, timeoutMs: 500, retries: 1 },
      onError: 'skip',
      transform: (_record, { signal }) => {
        signals.push(signal)
        return new Promise<void>(() => undefined)
      },
    })
    const error = await failure(clock.run(transformWindow(relay, records('a'), { clock })))
    expect(error).toMatchObject({
      code: 'TRANSFORM_TIMED_OUT',
      message: expect.stringContaining('async.timeoutMs (500)'),
    })
    expect(signals.map(({ aborted, reason }) => [aborted, reason.code])).toEqual([
      [true, 'TRANSFORM_TIMED_OUT'],
      [true, 'TRANSFORM_TIMED_OUT'],
    ])
    expect(clock.sleeping).toBe(0)
  })

  test('may still emit when it wakes up: that is dropped with the attempt and stops nothing', async () => {
    const clock = new VirtualClock()
    const emits: (() => void)[] = []
    const relay = relayOver({
      async: { concurrency: 1, timeoutMs: 500, retries: 1 },
      async transform({ value }, { emit }) {
        emits.push(() => emit.out(`${value} ${emits.length}`))
        if (emits.length === 1) return new Promise<void>(() => undefined)
        expect(emits[0]).toThrow('EMIT_TOO_LATE')
        emits[1]?.()
      },
    })
    const outcome = await clock.run(transformWindow(relay, records('a'), { clock }))
    expect(outcome.texts('out')).toEqual(['a 2'])
  })

  test('passes at the second try if it is quick enough then', async () => {
    const clock = new VirtualClock()
    let calls = 0
    const relay = relayOver({
      async: { concurrency: 1, timeoutMs: 500, retries: 1 },
      async transform({ value }, { emit, signal }) {
        await clock.sleep(++calls === 1 ? 10_000 : 1, signal)
        emit.out(value)
      },
    })
    const outcome = await clock.run(transformWindow(relay, records('a'), { clock }))
    expect(outcome.texts('out')).toEqual(['a'])
  })

  test('ends with the window when that has less time left', async () => {
    const clock = new VirtualClock()
    const beganMs = clock.now()
    const relay = relayOver({
      async: { concurrency: 2, timeoutMs: 5_000, retries: 9 },
      transform: () => new Promise<void>(() => undefined),
    })
    const work = transformWindow(relay, records('a', 'b', 'c'), { clock, timeMs: 800 })
    expect(await failure(clock.run(work))).toMatchObject({ code: 'TRANSFORM_TIMED_OUT' })
    expect(clock.now() - beganMs).toBe(800)
    expect(clock.sleeping).toBe(0)
  })
})

describe('when a window cannot go on', () => {
  test('the other calls are told, and none is begun any more', async () => {
    const clock = new VirtualClock()
    const begun: string[] = []
    const told: string[] = []
    const relay = relayOver({
      async: { concurrency: 2, retries: 5 },
      async transform({ value }, { signal }) {
        begun.push(value)
        signal.addEventListener('abort', () => told.push(value))
        if (value === 'b') throw retryWindow('the service is down')
        await clock.sleep(1_000, signal)
      },
    })
    const work = transformWindow(relay, records('a', 'b', 'c', 'd'), { clock })
    expect(await failure(clock.run(work))).toMatchObject({ code: 'TRANSFORM_RETRY' })
    expect(begun).toEqual(['a', 'b'])
    expect(told).toEqual(['a'])
    expect(clock.sleeping).toBe(0)
  })

  test('it is over only when every worker is: none writes into a sink that is used again', async () => {
    const clock = new VirtualClock()
    let release = () => {}
    let isOver = false
    const yieldNow = () =>
      new Promise<void>((resolve) => {
        release = resolve
      })
    const relay = relayOver({
      async: { concurrency: 2 },
      async transform({ value }, { signal }) {
        await clock.sleep(value === 'a' ? 20 : 30, signal)
        if (value === 'b') throw retryWindow('the service is down')
      },
    })
    const work = failure(transformWindow(relay, records('a', 'b', 'c'), { clock, yieldNow })).finally(() => {
      isOver = true
    })
    await clock.advance(100)
    expect(isOver).toBe(false)
    release()
    expect(await work).toMatchObject({ code: 'TRANSFORM_RETRY' })
  })

  test('it stops at the first record in source order that cannot pass, though a later one failed sooner', async () => {
    const clock = new VirtualClock()
    const relay = relayOver({
      async: { concurrency: 4 },
      async transform({ value }, { signal }) {
        await clock.sleep(value === 'slow' ? 50 : 1, signal)
        throw new Error(value)
      },
    })
    const work = transformWindow(relay, records('slow', 'quick'), { clock })
    expect(await failure(clock.run(work))).toMatchObject({
      code: 'RECORD_REJECTED_STOP',
      context: { offset: '0', rejectedBy: 'TRANSFORM_FAILED' },
    })
  })
})
