import { describe, expect, test } from 'vitest'
import { json } from '../../../lib/codecs/json.ts'
import { defineRelay, topic } from '../../../lib/index.ts'
import type { KafkaRecord } from '../../../lib/kafka/record.ts'
import { windowBefore } from '../../../lib/relay/stopped-at-record.ts'
import { testRelay } from '../../../lib/testing/index.ts'

const transformers = {
  'in turn': {},
  'several at once': { async: { concurrency: 3 } },
} as const

const relayThat = (how: keyof typeof transformers) =>
  defineRelay({
    name: 'stopping',
    source: topic('numbers', json<number>()),
    outputs: { same: topic('numbers.same', json<number>()) },
    onError: 'stop',
    ...transformers[how],
    async transform({ value }, { emit }) {
      if (value < 0) throw new Error(`${value} is below 0`)
      emit.same(value)
    },
  })

const wholeWindows = defineRelay({
  name: 'stopping',
  source: topic('numbers', json<number>()),
  outputs: { same: topic('numbers.same', json<number>()) },
  onError: 'stop',
  transformWindow(records, { emit }) {
    if (records.some(({ value }) => value < 0)) throw new Error('below 0')
    for (const from of records) emit.same(from.value, { from })
  },
})

const relays = [relayThat('in turn'), relayThat('several at once'), wholeWindows] as const
const all = (...values: readonly number[]) => values.map((value) => ({ key: 'k', value }))

describe('a record that the relay stops at', () => {
  test.each([0, 1, 2])('holds up only what comes behind it (transform %i)', async (index) => {
    const relay = testRelay(relays[index] ?? wholeWindows)
    await expect(relay.pipe(all(1, 2, -1, 3))).rejects.toMatchObject({ code: 'RECORD_REJECTED_STOP' })
    expect(relay.outputs.same.values()).toEqual([1, 2])
    await expect(relay.pipe(all(4)), 'and goes on holding it up').rejects.toThrow('RECORD_REJECTED_STOP')
    expect(relay.outputs.same.values()).toEqual([1, 2])
  })

  test.each(['before-commit', 'after-commit'] as const)(
    'leaves what comes before it relayed once, though the function dies %s of that part',
    async (point) => {
      for (const transactionVersion of [1, 2] as const) {
        const relay = testRelay(relayThat('in turn'), { transactionVersion })
        await relay.crash(point)
        await expect(relay.pipe(all(1, 2, -1, 3))).rejects.toMatchObject({ code: 'RECORD_REJECTED_STOP' })
        expect(relay.outputs.same.values()).toEqual([1, 2])
      }
    },
  )

  test('at the very place where the lane stands is a stop without a commit', async () => {
    const relay = testRelay(relayThat('in turn'))
    await expect(relay.pipe(all(-1, 1))).rejects.toThrow('record numbers/0/0 cannot pass')
    expect(relay.outputs.same.values()).toEqual([])
  })

  test('in a window of several partitions leaves each at its first record that was not relayed', () => {
    const record = (partition: number, offset: bigint) => ({ topic: 't', partition, offset }) as KafkaRecord
    const records = [record(0, 5n), record(0, 7n), record(1, 2n), record(1, 4n), record(1, 6n), record(2, 9n)]
    const until = new Map([
      [0, 10n],
      [1, 8n],
      [2, 12n],
      [3, 1n],
    ])
    const cut = (index: number) => [...windowBefore({ records, until }, records[index] as KafkaRecord).until.values()]
    expect(cut(3), 'holes and markers below it are passed').toEqual([10n, 4n, 9n, 1n])
    expect(cut(0)).toEqual([5n, 2n, 9n, 1n])
    expect(cut(5)).toEqual([10n, 8n, 9n, 1n])
  })
})

test('is not part of what a whole window gives, nor is anything behind it, even where it could not be read', async () => {
  const sums = defineRelay({
    name: 'sums',
    source: topic('numbers', json<number>()),
    outputs: { sum: topic('numbers.sum', json<number>()) },
    onError: 'stop',
    transformWindow(records, { emit }) {
      const [from] = records
      if (from)
        emit.sum(
          records.map(({ value }) => value).reduce((one, other) => one + other),
          { from },
        )
    },
  })
  const relay = testRelay(sums)
  await expect(relay.pipe([...all(1, 2), { key: 'k', bytes: 'no number' }, ...all(30, 40)])).rejects.toMatchObject({
    code: 'RECORD_REJECTED_STOP',
  })
  expect(relay.outputs.sum.values(), 'what is behind it comes when the lane is resumed, and only then').toEqual([3])
})

test('an emit that comes too late stops the window before its cut part is committed', async () => {
  const relay = testRelay(
    defineRelay({
      name: 'late',
      source: topic('numbers', json<number>()),
      outputs: { same: topic('numbers.same', json<number>()) },
      onError: 'stop',
      async transform({ value }, { emit }) {
        if (value < 0) {
          await new Promise((resolve) => setTimeout(resolve, 20))
          throw new Error('below 0')
        }
        setTimeout(() => emit.same(value), 1)
      },
    }),
  )
  const lateEmits: unknown[] = []
  const note = (error: unknown) => lateEmits.push(error)
  process.on('uncaughtException', note)
  try {
    await expect(relay.pipe(all(1, -1))).rejects.toMatchObject({ code: 'EMIT_TOO_LATE' })
  } finally {
    process.off('uncaughtException', note)
  }
  expect(relay.outputs.same.values()).toEqual([])
})
