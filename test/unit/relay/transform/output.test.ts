import { describe, expect, test } from 'vitest'
import { type Codec, defineRelay, type EmitOptions, json, nullable, string, topic } from '../../../../lib/index.ts'
import { partitionFor } from '../../../../lib/kafka/partitioner.ts'
import { deadLetterHeaders } from '../../../../lib/relay/transform/dead-letter.ts'
import { record, records, transformWindow, type WindowOptions } from '../../../helpers/relay-window.ts'

const headers = [
  { key: 'trace', value: Buffer.from('1') },
  { key: 'trace', value: null },
]

/** One record emitted with these options, as a reader finds it. */
async function emitted(options?: EmitOptions<string | Buffer | null>, windowOptions: WindowOptions = {}) {
  const relay = defineRelay({
    name: 'out',
    source: topic('source'),
    outputs: { out: topic('out') },
    transform: (source, { emit }) => emit.out(source.value, options),
  })
  const source = record('value', { headers, partition: 5 })
  return (await transformWindow(relay, [source], windowOptions)).records('out')[0]
}

describe('an output that says nothing but its value', () => {
  test('has key, timestamp and headers of its source record, bytes and order kept', async () => {
    expect(await emitted()).toMatchObject({ key: Buffer.from('key'), timestampMs: 1_700_000_000_000, headers })
  })

  test('goes where the Java client would send its key', async () => {
    const partition = partitionFor({ key: Buffer.from('key'), sourcePartition: 5, partitionCount: 7 })
    expect(await emitted({}, { partitions: 7 })).toMatchObject({ partition })
  })
})

describe('an output that says otherwise', () => {
  test('has the key that was given, as text or bytes', async () => {
    expect(await emitted({ key: 'ännä' })).toMatchObject({ key: Buffer.from('ännä', 'utf8') })
    expect(await emitted({ key: Buffer.from([0xff]) })).toMatchObject({ key: Buffer.from([0xff]) })
  })

  test('has no key for null, and follows the partition of its source record then', async () => {
    expect(await emitted({ key: null }, { partitions: 3 })).toMatchObject({ key: null, partition: 5 % 3 })
  })

  test('has the timestamp that was given', async () => {
    expect(await emitted({ timestamp: 7 })).toMatchObject({ timestampMs: 7 })
  })

  test('has the headers that were given, by name or as a list, or none', async () => {
    const given = { a: 'text', b: Buffer.from([1]), c: null }
    const list = Object.entries({ a: Buffer.from('text'), b: Buffer.from([1]), c: null })
    const expected = list.map(([key, value]) => ({ key, value }))
    expect(await emitted({ headers: given })).toMatchObject({ headers: expected })
    expect(await emitted({ headers: [...headers, ...expected] })).toMatchObject({ headers: [...headers, ...expected] })
    expect((await emitted({ headers: {} }))?.headers).toEqual([])
  })

  test('goes to the partition that was given', async () => {
    expect(await emitted({ partition: 2 }, { partitions: 3 })).toMatchObject({ partition: 2 })
  })

  test('has its key written by the codec of its topic', async () => {
    const relay = defineRelay({
      name: 'keys',
      source: topic('source'),
      outputs: { out: topic('out', string(), { key: json<{ id: number }>() }) },
      transform: (_record, { emit }) => emit.out('v', { key: { id: 3 } }),
    })
    const outcome = await transformWindow(relay, records('a'))
    expect(outcome.records('out')[0]?.key?.toString()).toBe('{"id":3}')
  })
})

test('a tombstone of the source passes a nullable codec undecoded and is written as a tombstone', async () => {
  const relay = defineRelay({
    name: 'tombstones',
    source: topic('source', nullable(json<number>())),
    outputs: { out: topic('out', nullable(json<number>())) },
    transform: (source, { emit }) => emit.out(source.value === null ? null : source.value + 1),
  })
  expect((await transformWindow(relay, records('1', null, '2'))).texts('out')).toEqual(['2', null, '3'])
})

describe('an output that cannot be written rejects its record, which then emits nothing at all', () => {
  const rejectedWith = async (value: unknown, options: object, codec: Codec<unknown> = json<unknown>()) => {
    const relay = defineRelay({
      name: 'bad',
      source: topic('source', string()),
      outputs: { good: topic('good', string()), out: topic('out', codec) },
      deadLetters: topic('dead'),
      transform(source, { emit }) {
        emit.good(source.value)
        if (source.value === 'bad') emit.out(value, options)
        emit.good(source.value)
      },
    })
    const outcome = await transformWindow(relay, records('a', 'bad', 'b'), { partitions: 1, maxMessageBytes: 2_000 })
    expect(outcome.texts('good')).toEqual(['a', 'a', 'b', 'b'])
    expect(outcome.texts('out')).toEqual([])
    expect(outcome.texts('dead')).toEqual(['bad'])
    expect(outcome.counts).toEqual({ records: 3, outputs: 4, deadLetters: 1, skipped: 0 })
    const [dead] = outcome.records('dead')
    const header = (name: string) => dead?.headers.find(({ key }) => key === name)?.value?.toString()
    return `${header(deadLetterHeaders.errorCode)} ${header(deadLetterHeaders.errorMessage)}`
  }

  test.each<[what: string, value: unknown, options: object, message: string]>([
    [
      'JSON cannot hold it',
      1n,
      {},
      "ENCODE_FAILED: emit.out for record source/0/1 cannot be written to 'out': .*BigInt",
    ],
    ['a tombstone', null, {}, 'the value is null and json has no null; use nullable'],
    ['a promise', Promise.resolve(1), {}, 'the value is a promise; await it'],
    ['a promise as key', 1, { key: Promise.resolve('k') }, 'the key is a promise; await it'],
    ['a key that is no key', 1, { key: 7 }, 'takes a Buffer or Uint8Array, not number'],
    ['a timestamp that is none', 1, { timestamp: Number.NaN }, 'the timestamp is NaN; give whole milliseconds'],
    ['a timestamp before 1970', 1, { timestamp: -5 }, 'the timestamp is -5'],
    ['a header that is no header', 1, { headers: { seen: 7 } }, "header 'seen' is number; give text, bytes or null"],
    [
      'a partition that does not exist',
      1,
      { partition: 4 },
      "PARTITION_INVALID: topic 'out' has no partition 4: it has 1",
    ],
    ['a value above max.message.bytes', 'x'.repeat(3_000), {}, 'RECORD_TOO_LARGE: .* accepts 2000'],
  ])('%s', async (_what, value, options, message) => {
    expect(await rejectedWith(value, options)).toMatch(new RegExp(message))
  })
})
