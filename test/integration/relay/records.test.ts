import { describe, expect, test } from 'vitest'
import { bytes, defineRelay, json, nullable, topic } from '../../../lib/index.ts'
import type { Header, OutputRecord } from '../../../lib/kafka/record.ts'
import { fenceOf, resumeLane, setTopicConfig } from '../../helpers/operator.ts'
import { recordsCommitted } from '../../helpers/read-committed.ts'
import { type Names, type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { onlyLane, ring, stopOf } from '../../helpers/ringing.ts'
import { appendRecords } from '../../helpers/writing.ts'

const append = ({ cluster, names }: RelayWorld, records: readonly Partial<OutputRecord>[]) =>
  appendRecords(cluster, { topic: names.source, partition: 0 }, records)

const text = (value: string): Partial<OutputRecord> => ({ value: Buffer.from(value) })

/** Dead letters as people see them: value, error code, message, offset in the source. */
async function deadLetters({ cluster, names }: RelayWorld) {
  const records = await recordsCommitted(cluster, names.dead, 1)
  return records.map(({ value, headers }) => {
    const header = (name: string) => String(headers.find(({ key }) => key === `fencepost.${name}`)?.value)
    return { value, code: header('error.code'), message: header('error.message'), offset: header('source.offset') }
  })
}

const counting = (onError: 'dead-letter' | 'stop' | 'skip') => (names: Names) =>
  defineRelay({
    name: 'copy',
    source: topic(names.source, json<{ n: number }>()),
    outputs: { numbers: topic(names.output, json<number>()) },
    ...(onError === 'dead-letter' && { deadLetters: topic(names.dead) }),
    onError,
    transform: (record, { emit }) => emit.numbers(record.value.n),
  })

describe('a record that cannot be decoded', () => {
  const good = [1, 2, 3].map((n) => text(`{"n":${n}}`))
  const bad = text('{"n":')

  test('is dead-lettered as it was, with its place and the reason, and the others are relayed', async () => {
    const world = await relayWorld({ define: counting('dead-letter') })
    await append(world, [...good, bad, { value: null }, ...good])
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual(['1', '2', '3', '1', '2', '3'])
    const [malformed, tombstone] = await deadLetters(world)
    expect(malformed).toMatchObject({ value: bad.value, code: 'DECODE_FAILED', offset: '3' })
    expect(malformed?.message).toContain(`${world.names.source}/0/3`)
    expect(tombstone).toMatchObject({ value: null, code: 'VALIDATION_FAILED', offset: '4' })
    expect(tombstone?.message).toMatch(/nullable/)
  })

  test('is skipped where the relay says so', async () => {
    const world = await relayWorld({ define: counting('skip') })
    await append(world, [bad, ...good])
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual(['1', '2', '3'])
  })

  test('stops the lane where the relay says so, behind all that comes before it', async () => {
    const world = await relayWorld({ define: counting('stop') })
    await append(world, [...good, bad, ...good])
    const stop = await stopOf(ring(await world.container()))
    expect(stop.code).toBe('RECORD_REJECTED_STOP')
    expect(stop.message).toContain(`record ${world.names.source}/0/3 cannot pass (DECODE_FAILED`)
    expect(stop.message).toContain("mend the relay or the record's producer, then resume the lane")
    expect(await world.delivered()).toEqual(['1', '2', '3'])
    const { committedUntil, dirty } = await fenceOf(world.fences, world.lane().transactionalId)
    expect([committedUntil, dirty]).toEqual([new Map([[0, 3n]]), false])
    expect((await stopOf(ring(await world.container()))).message, 'another ring finds the same stop').toBe(stop.message)
    await resumeLane(world)
    await ring(await world.container({ define: counting('skip') }))
    expect(await world.delivered()).toEqual(['1', '2', '3', '1', '2', '3'])
  })
})

test('records pass byte by byte: tombstones, no key, empty ones, headers that repeat, are null or not text', async () => {
  const world = await relayWorld()
  const headers: Header[] = [
    { key: 'same', value: Buffer.from([0x80, 0xff, 0x00]) },
    { key: 'same', value: Buffer.from('again') },
    { key: 'null', value: null },
    { key: '', value: Buffer.alloc(0) },
  ]
  const records: OutputRecord[] = [
    { key: Buffer.from('k'), value: null, headers: [], timestampMs: 1_700_000_000_123 },
    { key: null, value: Buffer.from([0xff, 0xfe]), headers, timestampMs: 0 },
    { key: Buffer.alloc(0), value: Buffer.alloc(0), headers: [], timestampMs: 1_700_000_000_456 },
  ]
  await append(world, records)
  await ring(await world.container())
  const seen = await recordsCommitted(world.cluster, world.names.output, 1)
  expect(seen.map(({ key, value, headers, timestampMs }) => ({ key, value, headers, timestampMs }))).toEqual(records)
})

describe.each(['4.1', '3.9'] as const)('a record that its output refuses, Kafka %s', (version) => {
  const large = { value: Buffer.alloc(5_000, 'x') }
  const small = ['a', 'b', 'c'].map(text)
  const bound = { 'max.message.bytes': '2000' }

  test('larger than max.message.bytes: dead-lettered whole, with both sizes', async () => {
    const world = await relayWorld({ version, output: { config: bound } })
    await append(world, [...small, large, ...small])
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done', windows: 1 })
    expect(await world.delivered()).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    const [letter] = await deadLetters(world)
    expect(letter).toMatchObject({ value: large.value, code: 'RECORD_TOO_LARGE', offset: '3' })
    expect(letter?.message).toMatch(/50\d\d bytes.*2000.*max\.message\.bytes/)
  })

  test('max.message.bytes lowered after a warm container learnt it: the same, and nothing is relayed twice', async () => {
    const world = await relayWorld({ version })
    const warm = await world.container()
    await append(world, small)
    await ring(warm)
    await setTopicConfig(world.cluster, world.names.output, 'max.message.bytes', '2000')
    await append(world, [...small, large, ...small])
    expect(await ring(warm)).toMatchObject({ ok: true })
    expect(await world.delivered()).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
    const [letter, ...more] = await deadLetters(world)
    expect(letter).toMatchObject({ value: large.value, code: 'RECORD_TOO_LARGE', offset: '6' })
    expect(more).toEqual([])
  })

  test('without a key for a compacted topic: found alone, dead-lettered, the others relayed', async () => {
    const world = await relayWorld({ version, output: { config: { 'cleanup.policy': 'compact' } } })
    const keyed = ['a', 'b', 'c'].map((value) => ({ key: Buffer.from(value), value: Buffer.from(value) }))
    await append(world, [...keyed, text('keyless'), ...keyed])
    expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    expect(await deadLetters(world)).toMatchObject([
      { value: Buffer.from('keyless'), code: 'RECORD_INVALID', offset: '3' },
    ])
  })
})

test('a dead letter that its own topic would refuse is cut, with a note', async () => {
  const world = await relayWorld({
    define: ({ source, output, dead }) =>
      defineRelay({
        name: 'copy',
        source: topic(source, nullable(bytes())),
        outputs: { copy: topic(output, nullable(bytes())) },
        deadLetters: topic(dead),
        transform: () => {
          throw new Error('never')
        },
      }),
  })
  await setTopicConfig(world.cluster, world.names.dead, 'max.message.bytes', '3000')
  await append(world, [{ value: Buffer.alloc(100_000, 'x') }])
  expect(onlyLane(await ring(await world.container()))).toMatchObject({ kind: 'done' })
  const [letter] = await recordsCommitted(world.cluster, world.names.dead, 1)
  expect(letter?.value?.length).toBeLessThan(3_000)
  const note = letter?.headers.find(({ key }) => key === 'fencepost.truncated')
  expect(String(note?.value)).toContain('value of 100000 bytes cut to')
})
