import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { RelayError } from '../../../../lib/errors.ts'
import { defineRelay, json, nullable, type OnError, string, topic } from '../../../../lib/index.ts'
import type { KafkaRecord } from '../../../../lib/kafka/record.ts'
import { rejectionKey } from '../../../../lib/relay/compiled-relay.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { failure, record, records, transformWindow } from '../../../helpers/relay-window.ts'

const shape = {
  name: 'strict',
  source: topic('source', json(v.object({ delay: v.number() }))),
  outputs: { out: topic('out', json<number>()) },
}
const strict = (onError?: OnError) =>
  defineRelay({
    ...shape,
    ...(onError && { onError }),
    ...(onError === 'dead-letter' && { deadLetters: topic('dead') }),
    transform({ value }, { emit }) {
      emit.out(value.delay)
      if (value.delay < 0) throw new Error('too early')
    },
  })

const said = (letter: KafkaRecord | undefined) =>
  Object.fromEntries((letter?.headers ?? []).map(({ key, value }) => [key, value?.toString()]))

describe('a dead letter', () => {
  test('has the original key, value and headers, and says where it came from and why', async () => {
    const source = record('{"delay":-1}', {
      partition: 3,
      offset: 17n,
      headers: [{ key: 'trace', value: Buffer.from('t1') }],
    })
    const outcome = await transformWindow(strict('dead-letter'), [source], { attempt: 2 })
    const [letter] = outcome.records('dead')
    expect(letter).toMatchObject({ key: source.key, value: source.value, timestampMs: source.timestampMs })
    expect(said(letter)).toEqual({
      trace: 't1',
      'fencepost.relay': 'strict',
      'fencepost.source.topic': 'source',
      'fencepost.source.partition': '3',
      'fencepost.source.offset': '17',
      'fencepost.source.timestamp': '1700000000000',
      'fencepost.error.code': 'TRANSFORM_FAILED',
      'fencepost.error.message': 'TRANSFORM_FAILED: the transform threw on record source/3/17: too early',
      'fencepost.attempt': '2',
    })
    expect(outcome.texts('out')).toEqual([])
    expect(outcome.counts).toEqual({ records: 1, outputs: 0, deadLetters: 1, skipped: 0 })
  })

  test.each<[why: string, code: string, value: string | null]>([
    ['is not JSON', 'DECODE_FAILED', '{"delay":'],
    ['is not UTF-8', 'DECODE_FAILED', null],
    ['does not match the schema', 'VALIDATION_FAILED', '{"delay":"late"}'],
    ['makes the transform throw', 'TRANSFORM_FAILED', '{"delay":-5}'],
  ])('is written for a record that %s (%s); its neighbours pass', async (_why, code, value) => {
    const bad = value === null ? { ...record(''), value: Buffer.from([0xff]) } : record(value)
    const outcome = await transformWindow(strict('dead-letter'), [record('{"delay":1}'), bad, record('{"delay":2}')])
    expect(outcome.texts('out')).toEqual(['1', '2'])
    expect(outcome.records('dead').map((letter) => [said(letter)['fencepost.error.code'], letter.value])).toEqual([
      [code, bad.value],
    ])
  })

  test('is written for a tombstone where the codec has no null, and says how to let it through', async () => {
    const outcome = await transformWindow(strict('dead-letter'), records(null))
    expect(outcome.texts('dead')).toEqual([null])
    expect(said(outcome.records('dead')[0])).toMatchObject({
      'fencepost.error.code': 'VALIDATION_FAILED',
      'fencepost.error.message': expect.stringContaining("topic('source', nullable(...))"),
    })
  })

  test('is written for a key that cannot be decoded', async () => {
    const relay = defineRelay({
      name: 'keys',
      source: topic('source', nullable(string()), { key: string() }),
      outputs: shape.outputs,
      deadLetters: topic('dead'),
      transform: () => undefined,
    })
    const outcome = await transformWindow(relay, [record('a', { key: Buffer.from([0xff]) })])
    expect(said(outcome.records('dead')[0])['fencepost.error.message']).toContain(
      'the key of record source/0/0 (1 bytes)',
    )
  })

  test('has a bounded message', async () => {
    const relay = defineRelay({
      ...shape,
      deadLetters: topic('dead'),
      transform: () => {
        throw new Error('x'.repeat(10_000))
      },
    })
    const outcome = await transformWindow(relay, records('{"delay":1}'))
    expect(said(outcome.records('dead')[0])['fencepost.error.message']).toHaveLength(500)
  })
})

describe('a dead letter that its topic does not accept', () => {
  const malformed = (bytes: number, more: Partial<KafkaRecord> = {}) => record('x'.repeat(bytes), more)

  test('loses most of its value and says so', async () => {
    const outcome = await transformWindow(strict('dead-letter'), [malformed(100_000)], { maxMessageBytes: 50_000 })
    const [letter] = outcome.records('dead')
    expect(letter?.value).toHaveLength(16_384)
    expect(said(letter)['fencepost.truncated']).toBe('value cut from 100000 to 16384 bytes')
  })

  test('keeps the reason at least, when key or headers are too large as well', async () => {
    const huge = { key: Buffer.alloc(30_000, 'k'), headers: [{ key: 'h', value: Buffer.alloc(30_000) }] }
    const outcome = await transformWindow(strict('dead-letter'), [malformed(100_000, huge)], {
      maxMessageBytes: 10_000,
    })
    const [letter] = outcome.records('dead')
    expect([letter?.key?.length, letter?.value?.length]).toEqual([512, 512])
    expect(said(letter)).toMatchObject({
      'fencepost.error.code': 'DECODE_FAILED',
      'fencepost.truncated': 'key of 30000 and value of 100000 bytes cut to 512, 1 headers left out',
    })
  })

  test('stops the lane when not even the reason fits: nothing is ever dropped', async () => {
    const work = transformWindow(strict('dead-letter'), [malformed(100)], { maxMessageBytes: 300 })
    expect(await failure(work)).toMatchObject({
      code: 'RECORD_REJECTED_STOP',
      message: expect.stringContaining("raise that topic's max.message.bytes"),
    })
  })
})

describe('a record that the engine knows to be unable to pass', () => {
  const rejected = (error: RelayError) => new Map([[rejectionKey('source', 0, 0n), error]])

  test('is dead-lettered without being transformed', async () => {
    const poison = new RelayError('POISON_RECORD', 'record source/0/0 ended the process 3 times')
    const outcome = await transformWindow(strict('dead-letter'), records('{"delay":1}', '{"delay":2}'), {
      rejected: rejected(poison),
    })
    expect(outcome.texts('out')).toEqual(['2'])
    expect(said(outcome.records('dead')[0])['fencepost.error.code']).toBe('POISON_RECORD')
  })

  test('is dated now when the broker refused it, because its timestamp may be the reason', async () => {
    const clock = new VirtualClock()
    const refused = new RelayError('RECORD_INVALID', 'the broker answered INVALID_TIMESTAMP')
    const outcome = await transformWindow(strict('dead-letter'), records('{"delay":1}'), {
      clock,
      rejected: rejected(refused),
    })
    const [letter] = outcome.records('dead')
    expect(letter?.timestampMs).toBe(clock.now())
    expect(said(letter)['fencepost.source.timestamp']).toBe('1700000000000')
  })
})

describe('a relay that says onError', () => {
  test('stop, and the default without dead letters, stops at the record and names it', async () => {
    for (const relay of [strict('stop'), strict()]) {
      const error = await failure(transformWindow(relay, records('{"delay":1}', 'x', '{"delay":2}')))
      expect(error).toMatchObject({
        code: 'RECORD_REJECTED_STOP',
        disposition: 'stop-lane',
        context: { topic: 'source', partition: 0, offset: '1', rejectedBy: 'DECODE_FAILED' },
        cause: { code: 'DECODE_FAILED' },
      })
    }
  })

  test('skip goes on and counts', async () => {
    const outcome = await transformWindow(strict('skip'), records('x', '{"delay":2}'))
    expect(outcome.texts('out')).toEqual(['2'])
    expect(outcome.counts).toEqual({ records: 2, outputs: 1, deadLetters: 0, skipped: 1 })
  })
})
