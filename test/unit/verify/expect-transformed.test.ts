import { expect, test } from 'vitest'
import { deadlineIn, systemClock } from '../../../lib/clock.ts'
import { bytes, defineRelay, json, topic } from '../../../lib/index.ts'
import { expectTransformed } from '../../../lib/verify/expect-transformed.ts'
import { contentIdentity } from '../../../lib/verify/identity.ts'
import type { DeadLetterOrigin } from '../../../lib/verify/read-output.ts'
import type { SourceAsk } from '../../../lib/verify/read-source.ts'
import { record } from '../../helpers/relay-window.ts'

let calls: number[] = []
const relay = defineRelay({
  name: 'copy',
  source: topic('source', json<{ n: number }>()),
  outputs: { out: topic('out', json<{ n: number }>()), raw: topic('raw', bytes()) },
  deadLetters: topic('dead'),
  transform(record, { emit }) {
    const { n } = record.value
    calls.push(n)
    if (n === 13) throw new Error('unlucky')
    if (n < 0) return
    emit.out({ n: n + 1 })
    if (n === 2) emit.raw(record.raw.value, { timestamp: 5 })
  },
})

const ask: SourceAsk = {
  topic: 'source',
  topicId: 'id',
  partition: 0,
  from: 0n,
  until: 100n,
  source: 3,
  committed: 2n,
  committedAfter: 3n,
}

async function expected(
  values: readonly string[],
  deadLetters: readonly DeadLetterOrigin[] = [],
  sinceMs: number | null = null,
) {
  calls = []
  const running = await relay.start({
    secret: async () => '',
    deadline: deadlineIn(systemClock, 9_000),
    clock: systemClock,
  })
  const expecting = expectTransformed({
    running,
    clock: systemClock,
    identity: contentIdentity('copy', 'dead'),
    outputs: new Map([
      ['out-0', 0],
      ['raw-0', 1],
      ['dead-0', 2],
    ]),
    partitionCounts: () =>
      new Map([
        ['out', 1],
        ['raw', 1],
        ['dead', 1],
      ]),
    sinceMs,
    deadLetters,
  })
  await expecting.take(
    ask,
    values.map((value, offset) => record(value, { offset: BigInt(offset), timestampMs: 1_000 })),
  )
  const { source, offset, output, standing, high } = expecting.expected
  const rows = [...offset].map(
    (at, index) => `${at} in ${output[index]}, ${['required', 'allowed', 'ahead'][standing[index] ?? 9]}`,
  )
  return { rows, sources: new Set(source), notReproduced: expecting.notReproduced, prints: new Set(high).size }
}

const letter = (offset: number, errorCode: string): DeadLetterOrigin => ({
  relay: 'copy',
  topic: 'source',
  partition: 0,
  offset: BigInt(offset),
  timestampMs: 1_000,
  errorCode,
})

test('each output is expected of its source record, as far as the offsets are committed', async () => {
  expect(await expected(['{"n":1}', '{"n":2}', '{"n":-1}', '{"n":4}', '{"n":5}'])).toEqual({
    rows: ['0 in 0, required', '1 in 0, required', '1 in 1, required', '3 in 0, ahead', '4 in 0, ahead'],
    sources: new Set([3]),
    notReproduced: 0,
    prints: 5,
  })
})

test('a record that cannot pass is expected among the dead letters', async () => {
  const { rows, notReproduced } = await expected(
    ['{"n":13}', 'no json', '{"n":1}'],
    [letter(0, 'TRANSFORM_FAILED'), letter(1, 'DECODE_FAILED')],
  )
  expect(rows).toEqual(['0 in 2, required', '1 in 2, required', '2 in 0, allowed'])
  expect(notReproduced).toBe(0)
})

test('so it is when its dead letter is missing', async () => {
  expect((await expected(['{"n":13}'])).rows).toEqual(['0 in 2, required'])
})

test.each(['POISON_RECORD', 'RECORD_TOO_LARGE', 'RECORD_INVALID', 'PARTITION_INVALID'])(
  'a record with a dead letter for %s is expected there and never handed to the transform',
  async (code) => {
    expect((await expected(['{"n":1}', '{"n":2}'], [letter(0, code)])).rows).toEqual([
      '0 in 2, required',
      '1 in 0, required',
      '1 in 1, required',
    ])
    expect(calls).toEqual([2])
  },
)

test('a dead letter whose record passes now is expected where it is, and counted', async () => {
  const { rows, notReproduced } = await expected(['{"n":1}'], [letter(0, 'TRANSFORM_FAILED')])
  expect(rows).toEqual(['0 in 2, required'])
  expect(notReproduced).toBe(1)
})

test('outputs with older timestamps are left out', async () => {
  expect((await expected(['{"n":2}'], [], 500)).rows).toEqual(['0 in 0, required'])
  expect((await expected(['{"n":2}'], [], 1_001)).rows).toEqual([])
})
