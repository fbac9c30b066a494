import { expect, test } from 'vitest'
import { bellEvent } from '../../../bench/bell-event.ts'
import { keyOf, numberedValue, valueBytes } from '../../../bench/numbered-records.ts'
import { parseKafkaEvent } from '../../../lib/lambda/event.ts'

test('a bell of the benchmark is an event that the real handler takes, with the records that were written', () => {
  const [bell] = parseKafkaEvent(bellEvent('source', 100, 103))
  const [partition] = bell?.partitions ?? []
  expect(bell).toMatchObject({ topic: 'source', partitions: [{ partition: 0, firstOffset: 100n, lastOffset: 102n }] })
  expect(partition?.records().map(({ key, value }) => ({ key, value }))).toEqual(
    [100, 101, 102].map((number) => ({ key: keyOf(number), value: numberedValue(number) })),
  )
})

test('values are 200 bytes long and carry their number', () => {
  expect(numberedValue(1_234_567)).toHaveLength(valueBytes)
  expect(numberedValue(1_234_567).readUInt32BE(0)).toBe(1_234_567)
})
