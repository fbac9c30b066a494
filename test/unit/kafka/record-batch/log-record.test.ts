import { expect, test } from 'vitest'
import { LogRecord, type RecordContext } from '../../../../lib/kafka/record-batch/log-record.ts'

const context: RecordContext = {
  topic: 'flights',
  partition: 3,
  baseOffset: 2n ** 53n,
  recordCount: 1,
  timestampType: 'CreateTime',
  baseTimestampMs: 1_000,
  maxTimestampMs: 9_000,
}
const bytes = Buffer.from('..key.value..')
const places = { timestampDelta: 5, offsetDelta: 7, keyEnd: 5, keyBytes: 3, valueEnd: 11, valueBytes: 5, headers: [] }

test('says what its batch and its places say, offsets above 2^53 exactly', () => {
  expect(new LogRecord(context, bytes, places)).toMatchObject({
    topic: 'flights',
    partition: 3,
    offset: 2n ** 53n + 7n,
    timestampMs: 1_005,
    timestampType: 'CreateTime',
    key: Buffer.from('key'),
    value: Buffer.from('value'),
    headers: [],
  })
})

test("log append time is the batch's for each of its records", () => {
  const record = new LogRecord({ ...context, timestampType: 'LogAppendTime' }, bytes, places)
  expect(record.timestampMs).toBe(9_000)
})

test('null differs from empty, for key and value', () => {
  const nulls = new LogRecord(context, bytes, { ...places, keyBytes: -1, valueBytes: -1 })
  const empties = new LogRecord(context, bytes, { ...places, keyBytes: 0, valueBytes: 0 })
  expect([nulls.key, nulls.value]).toEqual([null, null])
  expect([empties.key?.length, empties.value?.length]).toEqual([0, 0])
})

test('key and value are views, not copies', () => {
  const record = new LogRecord(context, bytes, places)
  expect(record.value?.buffer).toBe(bytes.buffer)
})
