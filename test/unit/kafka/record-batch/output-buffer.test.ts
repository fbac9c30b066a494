import { expect, test } from 'vitest'
import { readBatches } from '../../../../lib/kafka/record-batch/decode.ts'
import { type Output, OutputBuffer } from '../../../../lib/kafka/record-batch/output-buffer.ts'

const identity = { producerId: 1n, producerEpoch: 0, baseSequence: 0, transactional: true }
const limits: Readonly<Record<string, number>> = { wide: 10_000, narrow: 300 }
const newBuffer = () => new OutputBuffer({ maxMessageBytes: (topic) => limits[topic] ?? 0 })

const output = (topic: string, partition: number, value: string, timestampMs = 0): Output => ({
  topic,
  partition,
  record: { key: null, value: Buffer.from(value), timestampMs },
})

function contents(buffer: OutputBuffer) {
  return buffer.partitions().map(({ topic, partition, batches }) => ({
    topic,
    partition,
    batches: batches.map((batch) => {
      const read = [...readBatches(batch.build(identity), { topic, partition })]
      return read.flatMap((each) => each.records().map(({ value }) => String(value)))
    }),
  }))
}

test('partitions keep the order of their first use, records the order in which they came', () => {
  const buffer = newBuffer()
  for (const [partition, value] of [
    [2, 'a'],
    [0, 'b'],
    [2, 'c'],
  ] as const)
    buffer.append([output('wide', partition, value)])
  expect(contents(buffer)).toEqual([
    { topic: 'wide', partition: 2, batches: [['a', 'c']] },
    { topic: 'wide', partition: 0, batches: [['b']] },
  ])
  expect(buffer.recordCount).toBe(3)
})

test("batches stay under their own topic's bound", () => {
  const buffer = newBuffer()
  const values = Array.from({ length: 10 }, (_, i) => `${i}`.repeat(100))
  for (const value of values) buffer.append([output('narrow', 0, value), output('wide', 0, value)])
  const [narrow, wide] = buffer.partitions()
  expect(narrow?.batches).toHaveLength(5)
  expect(wide?.batches).toHaveLength(1)
  for (const batch of narrow?.batches ?? []) expect(batch.build(identity).length).toBeLessThanOrEqual(300)
  expect(contents(buffer)[0]?.batches.flat()).toEqual(values)
})

test('the size is that of all batches together', () => {
  const buffer = newBuffer()
  for (let i = 0; i < 10; i++) buffer.append([output('narrow', i % 2, 'x'.repeat(100)), output('wide', i, 'y')])
  const built = buffer.partitions().flatMap(({ batches }) => batches.map((batch) => batch.build(identity).length))
  expect(buffer.sizeBytes).toBe(built.reduce((sum, bytes) => sum + bytes, 0))
})

test('the outputs of one source record are added all together or not at all', () => {
  const buffer = newBuffer()
  buffer.append([output('wide', 0, 'before')])
  const tooLarge = [output('wide', 0, 'half'), output('narrow', 0, 'x'.repeat(300))]
  expect(() => buffer.append(tooLarge)).toThrow(
    'RECORD_TOO_LARGE: the record takes 370 bytes as a batch of its own, topic narrow accepts 300',
  )
  expect(() => buffer.append([output('wide', 1, 'half'), output('wide', 1, 'x', Number.NaN)])).toThrow('RECORD_INVALID')
  expect(() => buffer.append([output('narrow', 3, 'x'.repeat(300))])).toThrow('RECORD_TOO_LARGE')
  expect(contents(buffer)).toEqual([{ topic: 'wide', partition: 0, batches: [['before']] }])
  expect(buffer.recordCount).toBe(1)
})

test('a reset begins an empty window and leaves what was taken before as it was', () => {
  const buffer = newBuffer()
  buffer.append([output('wide', 0, 'first')])
  const before = buffer.partitions()
  buffer.reset()
  expect(buffer).toMatchObject({ recordCount: 0, sizeBytes: 0 })
  expect(buffer.partitions()).toEqual([])
  buffer.append([output('wide', 0, 'second')])
  expect(contents(buffer)).toEqual([{ topic: 'wide', partition: 0, batches: [['second']] }])
  expect(before[0]?.batches[0]?.count).toBe(1)
})

test('a bound that was lowered between two windows holds in the next', () => {
  let maxBytes = 10_000
  const buffer = new OutputBuffer({ maxMessageBytes: () => maxBytes })
  const fill = () => {
    for (let i = 0; i < 10; i++) buffer.append([output('any', 0, 'x'.repeat(100))])
    return buffer.partitions()[0]?.batches.length
  }
  expect(fill()).toBe(1)
  maxBytes = 300
  buffer.reset()
  expect(fill()).toBe(5)
})

test('after recycle the next window is written into the same bytes, and a batch of the last one can be sent no more', () => {
  const buffer = newBuffer()
  const fill = (value: string) => {
    for (let partition = 0; partition < 3; partition++) buffer.append([output('wide', partition, value.repeat(1_000))])
    return buffer
      .partitions()
      .flatMap(({ batches }) => batches.map((batch) => ({ batch, bytes: batch.build(identity) })))
  }
  const first = fill('a')
  buffer.recycle()
  const second = fill('b')
  expect(new Set(second.map(({ bytes }) => bytes.buffer))).toEqual(new Set(first.map(({ bytes }) => bytes.buffer)))
  expect(contents(buffer).flatMap(({ batches }) => batches.flat())).toEqual(Array(3).fill('b'.repeat(1_000)))
  expect(() => first[0]?.batch.build(identity)).toThrow('recycled')
})

test('after a mere reset the batches of the last window stay as they are: a resend may still need them', () => {
  const buffer = newBuffer()
  buffer.append([output('wide', 0, 'first')])
  const [kept] = buffer.partitions()
  const bytes = Buffer.from(kept?.batches[0]?.build(identity) ?? [])
  buffer.reset()
  buffer.append([output('wide', 0, 'other')])
  buffer.partitions()[0]?.batches[0]?.build(identity)
  expect(kept?.batches[0]?.build(identity)).toEqual(bytes)
})
