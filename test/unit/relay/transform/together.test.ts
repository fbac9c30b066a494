import { describe, expect, test } from 'vitest'
import { defineRelay, json, retryWindow, topic } from '../../../../lib/index.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { failure, record, records, startRelay, transformWindow } from '../../../helpers/relay-window.ts'

const shape = {
  source: topic('source', json<number | string>()),
  outputs: { out: topic('out', json<unknown>()) },
  deadLetters: topic('dead'),
}

/** Looks up whole windows at once; a record with text in it makes the look-up fail. */
function lookup(calls: unknown[][]) {
  return defineRelay({
    name: 'lookup',
    ...shape,
    transformWindow(records, { emit }) {
      calls.push(records.map(({ value }) => value))
      for (const record of records) {
        if (typeof record.value === 'string') throw new Error('no such thing')
        emit.out(record.value * 2, { from: record })
      }
    },
  })
}

describe('transformWindow', () => {
  test('gets all records of a window in one call', async () => {
    const calls: unknown[][] = []
    const outcome = await transformWindow(lookup(calls), records('1', '2', '3'))
    expect(calls).toEqual([[1, 2, 3]])
    expect(outcome.texts('out')).toEqual(['2', '4', '6'])
    expect(outcome.counts).toEqual({ records: 3, outputs: 3, deadLetters: 0, skipped: 0 })
  })

  test('takes key, timestamp, headers and partition of an output from the record that it names', async () => {
    const source = record('1', { key: null, partition: 2, timestampMs: 7, headers: [{ key: 'h', value: null }] })
    const outcome = await transformWindow(lookup([]), [source], { partitions: 3 })
    expect(outcome.records('out')).toMatchObject([
      { key: null, partition: 2, timestampMs: 7, headers: [{ key: 'h', value: null }] },
    ])
  })

  test('writes outputs in source order, those of one record in the order of their emits', async () => {
    const relay = defineRelay({
      name: 'backwards',
      ...shape,
      async transformWindow(records, { emit }) {
        for (const from of [...records].reverse()) emit.out(`${from.value} first`, { from })
        for (const from of records) emit.out(`${from.value} second`, { from })
      },
    })
    expect((await transformWindow(relay, records('1', '2'))).texts('out')).toEqual([
      '"1 first"',
      '"1 second"',
      '"2 first"',
      '"2 second"',
    ])
  })

  test('is not called for a window without records', async () => {
    const calls: unknown[][] = []
    expect((await transformWindow(lookup(calls), [])).counts.records).toBe(0)
    expect(calls).toEqual([])
  })
})

describe('a record that cannot pass', () => {
  test('never reaches the call when it cannot be decoded', async () => {
    const calls: unknown[][] = []
    const outcome = await transformWindow(lookup(calls), records('1', '{', '3'))
    expect(calls).toEqual([[1, 3]])
    expect(outcome.texts('dead')).toEqual(['{'])
  })

  test('is found by halving the window when the call throws; all others pass', async () => {
    const calls: unknown[][] = []
    const outcome = await transformWindow(lookup(calls), records('1', '2', '"x"', '4', '5', '6', '7', '8'))
    expect(calls).toEqual([[1, 2, 'x', 4, 5, 6, 7, 8], [1, 2, 'x', 4], [1, 2], ['x', 4], ['x'], [4], [5, 6, 7, 8]])
    expect(outcome.texts('out')).toEqual(['2', '4', '8', '10', '12', '14', '16'])
    expect(outcome.texts('dead')).toEqual(['"x"'])
  })

  test('loses all its outputs when one of them cannot be written', async () => {
    const relay = defineRelay({
      name: 'half',
      ...shape,
      transformWindow(records, { emit }) {
        for (const from of records) emit.out('fine', { from })
        for (const from of records) emit.out(from.value === 2 ? 1n : 'fine', { from })
      },
    })
    const outcome = await transformWindow(relay, records('1', '2'))
    expect(outcome.texts('out')).toEqual(['"fine"', '"fine"'])
    expect(outcome.texts('dead')).toEqual(['2'])
  })
})

test('an output from a record of another window is refused', async () => {
  const kept: { from?: Parameters<typeof emitFrom>[0] } = {}
  const emitFrom = (from: { topic: string; partition: number; offset: bigint; id: string }) => from
  const relay = defineRelay({
    name: 'mixed-up',
    ...shape,
    transformWindow(records, { emit }) {
      for (const record of records) {
        kept.from ??= emitFrom(record)
        emit.out(record.value, { from: kept.from })
      }
    },
  })
  const window = await startRelay(relay)
  await window(records('1'))
  const outcome = await window(records('2'))
  expect(
    outcome
      .records('dead')[0]
      ?.headers.map(({ value }) => String(value))
      .join(),
  ).toContain(
    'TRANSFORM_FAILED: the transform threw on record source/0/0: emit in transformWindow needs { from: record }',
  )
})

test('an outage rejects no record and is not halved', async () => {
  let calls = 0
  const relay = defineRelay({
    name: 'outage',
    ...shape,
    async transformWindow() {
      calls++
      throw retryWindow('the database is down')
    },
  })
  expect(await failure(transformWindow(relay, records('1', '2')))).toMatchObject({ code: 'TRANSFORM_RETRY' })
  expect(calls).toBe(1)
})

test('a call that takes too long is given up and tried with the window', async () => {
  const clock = new VirtualClock()
  const relay = defineRelay({
    name: 'slow',
    ...shape,
    async: { timeoutMs: 100 },
    transformWindow: () => new Promise<void>(() => undefined),
  })
  const work = clock.run(transformWindow(relay, records('1', '2'), { clock }))
  expect(await failure(work)).toMatchObject({ code: 'TRANSFORM_TIMED_OUT' })
  expect(clock.sleeping).toBe(0)
})
