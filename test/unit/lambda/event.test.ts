import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRelayError } from '../../../lib/errors.ts'
import { parseKafkaEvent } from '../../../lib/lambda/event.ts'

const fixture = (name: string) => JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8'))
const msk = () => fixture('msk.json')
const oneRecord = (fields: object) => ({
  eventSource: 'SelfManagedKafka',
  records: { 't-0': [{ topic: 't', partition: 0, offset: 1, ...fields }] },
})

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (isRelayError(error)) return error.message
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('bells of an event', () => {
  test('an MSK event gives one bell per topic with its partitions ascending and their offset bounds', () => {
    const bells = parseKafkaEvent(msk())
    expect(bells).toMatchObject([
      {
        kind: 'event',
        topic: 'orders-2024',
        partitions: [
          { partition: 0, firstOffset: 9007199254740991n, lastOffset: 9007199254740991n },
          { partition: 1, firstOffset: 41n, lastOffset: 44n },
        ],
      },
    ])
  })

  test('topic and partition come from the records, not from the key of the map', () => {
    const event = { eventSource: 'aws:kafka', records: { 'x-9': [{ topic: 'a-b-3', partition: 4, offset: 0 }] } }
    expect(parseKafkaEvent(event)).toMatchObject([{ topic: 'a-b-3', partitions: [{ partition: 4 }] }])
  })

  test('several topics in one event give several bells', () => {
    const records = { a: [{ topic: 'a', partition: 0, offset: 1 }], b: [{ topic: 'b', partition: 0, offset: 2 }] }
    expect(parseKafkaEvent({ eventSource: 'aws:kafka', records }).map((bell) => bell.topic)).toEqual(['a', 'b'])
  })

  test('an empty event gives no bell', () => {
    expect(parseKafkaEvent({ eventSource: 'aws:kafka', records: {} })).toEqual([])
    expect(parseKafkaEvent({ eventSource: 'aws:kafka', records: { 't-0': [] } })).toEqual([])
  })

  test('bounds hold for offsets in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), { minLength: 1 }), (offsets) => {
        const records = offsets.map((offset) => ({ topic: 't', partition: 0, offset }))
        const [bell] = parseKafkaEvent({ eventSource: 'aws:kafka', records: { 't-0': records } })
        expect(bell?.partitions[0]).toMatchObject({
          firstOffset: BigInt(Math.min(...offsets)),
          lastOffset: BigInt(Math.max(...offsets)),
        })
      }),
    )
  })
})

describe('records of an event', () => {
  const recordsOf = (event: unknown) =>
    parseKafkaEvent(event).flatMap((bell) => bell.partitions.flatMap((partition) => partition.records()))

  test('header bytes are signed, names may repeat, order is kept', () => {
    const record = recordsOf(msk())[1]
    expect(record?.headers).toEqual([
      { key: 'trace', value: Buffer.from([0xc3, 0xa4, 0x00, 0x7f, 0x80]) },
      { key: 'trace', value: Buffer.from('2') },
      { key: 'empty', value: Buffer.alloc(0) },
    ])
    expect(record).toMatchObject({ timestampType: 'CreateTime', timestampMs: 1724745600000 })
  })

  test('a tombstone, null or absent, is null; an empty value is not', () => {
    const [empty, , tombstone] = recordsOf(msk())
    expect(tombstone).toMatchObject({ value: null, offset: 44n, timestampType: 'LogAppendTime' })
    expect(empty).toMatchObject({ value: Buffer.alloc(0), key: null, headers: [] })
    const [absent, bytes] = recordsOf(fixture('self-managed.json'))
    expect(absent).toMatchObject({ key: null, value: null, headers: [] })
    expect(bytes?.value).toEqual(Buffer.from([0x00, 0xff]))
  })

  test('every payload survives the way through base64 and signed bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
    fc.assert(
      fc.property(fc.option(bytes), fc.option(bytes), bytes, (key, value, header) => {
        const event = oneRecord({
          key: key?.toString('base64') ?? null,
          value: value?.toString('base64') ?? null,
          headers: [{ h: [...new Int8Array(header)] }],
        })
        expect(recordsOf(event)[0]).toMatchObject({ key, value, headers: [{ key: 'h', value: header }] })
      }),
    )
  })

  test.each([
    ['a value that is a number', { value: 7 }, 'record t-0@1: value is a number; wanted base64, null or nothing'],
    ['a value that is not base64', { value: 'a*b=' }, 'record t-0@1: value has 4 characters that are not base64'],
    ['a header byte out of range', { headers: [{ h: [300] }] }, "header 'h' is not an array of bytes from -128 to 127"],
    ['headers that are no array', { headers: 'h' }, 'headers are a string; wanted an array'],
  ])('%s is refused when records are read, the bell rings all the same', (_, fields, message) => {
    const [bell] = parseKafkaEvent(oneRecord(fields))
    expect(bell?.partitions[0]?.lastOffset).toBe(1n)
    expect(refusal(() => bell?.partitions[0]?.records())).toContain(message)
  })
})

describe('events that are not understood', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'the event is missing; wanted an object'],
    ['a list', [1, 2], 'the event is an array of 2; wanted'],
    ['an SQS event', { Records: [] }, "eventSource is missing; wanted 'aws:kafka' or 'SelfManagedKafka'"],
    ['another source', { eventSource: 'aws:kinesis' }, 'eventSource is "aws:kinesis"; wanted'],
    ['no records', { eventSource: 'aws:kafka' }, 'records is missing; wanted an object of arrays'],
    ['records as a list', { eventSource: 'aws:kafka', records: [] }, 'records is an array of 0'],
    [
      'a group that is no list',
      { eventSource: 'aws:kafka', records: { 't-0': {} } },
      "records['t-0'] is an object with no fields",
    ],
    ['a record without topic', oneRecord({ topic: '' }), 'records[\'t-0\'][0].topic is ""; wanted a topic name'],
    ['a partition below 0', oneRecord({ partition: -1 }), "records['t-0'][0].partition is -1"],
    ['an offset as text', oneRecord({ offset: '12' }), 'offset is "12"; wanted a whole number'],
    [
      'an offset beyond 2^53',
      oneRecord({ offset: 9007199254740992 }),
      'JSON numbers above it are not exact; use the pull function',
    ],
  ])('%s is refused by name', (_, event, message) => {
    const found = refusal(() => parseKafkaEvent(event))
    expect(found).toContain('EVENT_INVALID')
    expect(found).toContain(message)
  })

  test('a refusal never quotes a whole payload', () => {
    expect(refusal(() => parseKafkaEvent({ eventSource: 'x'.repeat(10_000) })).length).toBeLessThan(300)
  })
})
