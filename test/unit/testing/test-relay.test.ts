import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineRelay, json, topic } from '../../../lib/index.ts'
import { type CrashPoint, testRelay } from '../../../lib/testing/index.ts'

const Order = v.object({ customer: v.string(), total: v.number() })

const orders = (over: { transform?: (total: number) => void | Promise<void>; deadLetters?: boolean } = {}) =>
  defineRelay({
    name: 'orders',
    source: topic('orders', json(Order)),
    outputs: {
      large: topic('orders.large', json<{ customer: string; total: number }>()),
      all: topic('orders.all', json<number>()),
    },
    ...(over.deadLetters === false ? {} : { deadLetters: topic('orders.dead') }),
    async transform(record, { emit }) {
      await over.transform?.(record.value.total)
      emit.all(record.value.total)
      if (record.value.total >= 100) emit.large(record.value)
    },
  })

const order = (customer: string, total: number) => ({ key: customer, value: { customer, total } })

describe('testRelay', () => {
  it('pipes records through the relay into its outputs, in order', async () => {
    const relay = testRelay(orders())
    await relay.pipe([order('ann', 5), order('bob', 100)])
    await relay.pipe(order('ann', 700))
    expect(relay.outputs.all.values()).toEqual([5, 100, 700])
    expect(relay.outputs.large.values()).toEqual([
      { customer: 'bob', total: 100 },
      { customer: 'ann', total: 700 },
    ])
  })

  it('shows the whole record of an output', async () => {
    const relay = testRelay(orders(), { startAt: new Date('2026-03-01T10:00:00Z') })
    await relay.pipe({ ...order('ann', 100), headers: { trace: 'abc' } })
    expect(relay.outputs.large.records()).toEqual([
      {
        key: Buffer.from('ann'),
        value: { customer: 'ann', total: 100 },
        headers: [{ key: 'trace', value: Buffer.from('abc') }],
        timestamp: Date.parse('2026-03-01T10:00:00Z'),
        partition: 0,
        offset: 0n,
      },
    ])
  })

  const points: readonly CrashPoint[] = ['transform', 'before-commit', 'after-commit']
  for (const transactionVersion of [2, 1] as const) {
    it.each(points)(
      `delivers once although the container dies at '%s' (transaction version ${transactionVersion})`,
      async (point) => {
        const totals: number[] = []
        const relay = testRelay(orders({ transform: (total) => void totals.push(total) }), { transactionVersion })
        await relay.pipe(order('ann', 1))
        await relay.crash(point)
        await relay.pipe([order('ann', 2), order('bob', 3)])
        await relay.pipe(order('ann', 4))
        expect(relay.outputs.all.values()).toEqual([1, 2, 3, 4])
        expect(totals).toEqual(point === 'after-commit' ? [1, 2, 3, 4] : [1, 2, 3, 2, 3, 4])
      },
    )

    it.each(points)(
      `survives a crash at '%s' in the very first run (transaction version ${transactionVersion})`,
      async (point) => {
        const relay = testRelay(orders(), { transactionVersion })
        await relay.crash(point)
        await relay.pipe([order('ann', 1), order('bob', 2)])
        expect(relay.outputs.all.values()).toEqual([1, 2])
      },
    )
  }

  it('goes on in another container after a crash between two events', async () => {
    const relay = testRelay(orders())
    await relay.pipe(order('ann', 1))
    await relay.crash()
    await relay.pipe(order('ann', 2))
    expect(relay.outputs.all.values()).toEqual([1, 2])
  })

  it('says so when a crash that was asked for never came', async () => {
    const relay = testRelay(orders())
    await relay.pipe(order('ann', 1))
    await relay.crash('before-commit')
    await expect(relay.ring()).rejects.toThrow("the crash at 'before-commit' never came")
  })

  it('finds records in the log whose event was lost', async () => {
    const relay = testRelay(orders())
    await relay.write([order('ann', 1), order('bob', 2)])
    expect(relay.outputs.all.values()).toEqual([])
    await relay.ring()
    expect(relay.outputs.all.values()).toEqual([1, 2])
    await relay.write(order('ann', 3))
    await relay.pipe(order('ann', 4))
    expect(relay.outputs.all.values()).toEqual([1, 2, 3, 4])
  })

  it('dead-letters what cannot be decoded, with the reason and the place', async () => {
    const relay = testRelay(orders())
    await relay.pipe([order('ann', 1), { key: 'bob', bytes: '{"customer": ' }, order('ann', 2)])
    expect(relay.outputs.all.values()).toEqual([1, 2])
    expect(relay.deadLetters.values()).toEqual([Buffer.from('{"customer": ')])
    expect(relay.deadLetters.records()).toMatchObject([
      { error: { code: 'DECODE_FAILED' }, source: { topic: 'orders', partition: 0, offset: 1n } },
    ])
  })

  it('rejects with the reason when a lane stops', async () => {
    const relay = testRelay(orders({ deadLetters: false }))
    await expect(relay.pipe([order('ann', 1), { bytes: 'no json' }])).rejects.toMatchObject({
      code: 'RECORD_REJECTED_STOP',
    })
    expect(relay.deadLetters.records()).toEqual([])
    await expect(relay.pipe(order('ann', 2))).rejects.toThrow(/RECORD_REJECTED_STOP/)
  })

  it('spreads keys over partitions as Kafka does, and keeps their order', async () => {
    const relay = testRelay(orders(), { partitions: { orders: 3, 'orders.all': 2 } })
    const names = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay']
    await relay.pipe(names.flatMap((name, index) => [order(name, index), order(name, index + 10)]))
    const records = relay.outputs.all.records()
    expect(records.map(({ value }) => value).toSorted((a, b) => Number(a) - Number(b))).toEqual([
      0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15,
    ])
    expect(new Set(records.map(({ partition }) => partition))).toEqual(new Set([0, 1]))
    for (const name of names) {
      const [first, second] = records.filter(({ key }) => String(key) === name)
      expect(Number(second?.value)).toBe(Number(first?.value) + 10)
    }
    await expect(relay.write({ ...order('ann', 1), partition: 3 })).rejects.toThrow('partitions 0 to 2, not 3')
  })

  it('goes on after eight idle days, when brokers have forgotten offsets and ids', async () => {
    const relay = testRelay(orders())
    await relay.pipe(order('ann', 1))
    await relay.advanceTime(8 * 24 * 3_600_000)
    await relay.pipe(order('ann', 2))
    await relay.crash()
    await relay.advanceTime(8 * 24 * 3_600_000)
    await relay.pipe(order('ann', 3))
    expect(relay.outputs.all.values()).toEqual([1, 2, 3])
  })

  it('lets a transform wait for something real', async () => {
    const real = () => new Promise<void>((resolve) => setTimeout(resolve, 20))
    const relay = testRelay(orders({ transform: real }))
    const startedMs = relay.now()
    await relay.pipe([order('ann', 1), order('ann', 2)])
    expect(relay.outputs.all.values()).toEqual([1, 2])
    expect(relay.now() - startedMs).toBeLessThan(5_000)
  })

  it.each(['exactly-once', 'at-least-once', 'none'] as const)('runs relays of the guarantee %s', async (guarantee) => {
    const copy = defineRelay({
      name: 'copy',
      source: topic('in', json<number>()),
      outputs: { out: topic('out', json<number>()) },
      guarantee,
      transform: (record, { emit }) => emit.out(record.value),
    })
    const relay = testRelay(copy)
    await relay.pipe([{ value: 1 }, { value: 2 }])
    await relay.pipe({ value: 3 })
    expect(relay.outputs.out.values()).toEqual([1, 2, 3])
  })

  it('shows what at-least-once means: a crash before the commit writes again', async () => {
    const copy = defineRelay({
      name: 'copy',
      source: topic('in', json<number>()),
      outputs: { out: topic('out', json<number>()) },
      guarantee: 'at-least-once',
      transform: (record, { emit }) => emit.out(record.value),
    })
    const relay = testRelay(copy)
    await relay.crash('before-commit')
    await relay.pipe([{ value: 1 }, { value: 2 }])
    expect(relay.outputs.out.values()).toEqual([1, 2, 1, 2])
  })

  it('gives up a call that takes too long, in its own time, and tries the window again', async () => {
    let calls = 0
    const slow = defineRelay({
      name: 'slow',
      source: topic('in', json<number>()),
      outputs: { out: topic('out', json<number>()) },
      async: { concurrency: 4, timeoutMs: 50 },
      async transform(record, { emit, signal }) {
        calls++
        if (calls === 1) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        emit.out(record.value)
      },
    })
    const relay = testRelay(slow)
    await relay.pipe([{ value: 1 }, { value: 2 }])
    expect(relay.outputs.out.values()).toEqual([1, 2])
    expect(calls).toBeGreaterThan(2)
  })

  it('hands secrets to setup, and names the one that is missing', async () => {
    const keyed = defineRelay({
      name: 'keyed',
      source: topic('in', json<number>()),
      outputs: { out: topic('out', json<string>()) },
      setup: async ({ secret }) => ({ word: await secret('WORD') }),
      transform: (record, { emit, word }) => emit.out(`${word} ${record.value}`),
    })
    const relay = testRelay(keyed, { secrets: { WORD: 'number' } })
    await relay.pipe({ value: 7 })
    expect(relay.outputs.out.values()).toEqual(['number 7'])
    await expect(testRelay(keyed).pipe({ value: 7 })).rejects.toThrow("no secret 'WORD'")
  })

  it('is the same in every run', async () => {
    const run = async () => {
      const relay = testRelay(orders(), { partitions: 2 })
      await relay.crash('before-commit')
      await relay.pipe([order('ann', 1), order('bob', 200)])
      return [relay.now(), relay.outputs.all.records()]
    }
    expect(await run()).toEqual(await run())
  })
})
