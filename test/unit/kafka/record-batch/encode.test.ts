import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KafkaRecord, OutputRecord } from '../../../../lib/kafka/record.ts'
import { readBatches } from '../../../../lib/kafka/record-batch/decode.ts'
import { BatchBuilder, type BatchIdentity, type BatchOptions } from '../../../../lib/kafka/record-batch/encode.ts'
import { javaBatch, smallRecords } from '../../../helpers/java-batches.ts'

const session: BatchIdentity = { producerId: 42n, producerEpoch: 7, baseSequence: 1000, transactional: true }
const anonymous: BatchIdentity = { producerId: -1n, producerEpoch: -1, baseSequence: -1, transactional: false }
const source = { topic: 'flights', partition: 3 }

function builderOf(records: readonly OutputRecord[], options: Partial<BatchOptions> = {}): BatchBuilder {
  const builder = new BatchBuilder({ maxBytes: 1_000_000, ...options })
  for (const record of records) expect(builder.tryAppend(record)).toBe(true)
  return builder
}

const decode = (bytes: Buffer) => [...readBatches(bytes, source)].flatMap((batch) => batch.records().map(contentOf))

/** Records are views of their batch; here only what they say counts. */
const contentOf = ({ topic, partition, offset, timestampMs, timestampType, key, value, headers }: KafkaRecord) => {
  return { topic, partition, offset, timestampMs, timestampType, key, value, headers }
}

const record = (bytes: number, timestampMs = 0): OutputRecord => ({
  key: null,
  value: Buffer.alloc(bytes),
  timestampMs,
})

test('a transactional batch is, byte for byte, what the Java client writes', () => {
  expect(builderOf(smallRecords).build(session).equals(javaBatch('small-none'))).toBe(true)
})

test('a batch without producer id is, byte for byte, what the Java client writes', () => {
  expect(builderOf(smallRecords).build(anonymous).equals(javaBatch('plain'))).toBe(true)
})

test('the same identity gives the same bytes again: a resend is identical', () => {
  const builder = builderOf(smallRecords)
  const first = builder.build(session)
  const copy = Buffer.from(first)
  expect(builder.build({ ...session })).toBe(first)
  expect(first.equals(copy)).toBe(true)
})

test('another identity gets bytes of its own and leaves the earlier ones, which may still be in a socket, untouched', () => {
  const builder = builderOf(smallRecords)
  const earlier = builder.build(session)
  const copy = Buffer.from(earlier)
  const reopened = builder.build({ ...session, producerEpoch: 9, baseSequence: 0 })
  expect(earlier.equals(copy)).toBe(true)
  expect(builder.build(session).equals(copy)).toBe(true)
  const [batch] = readBatches(reopened, source)
  expect(batch).toMatchObject({ producerEpoch: 9, baseSequence: 0, isTransactional: true, recordCount: 4 })
  expect(builder.build(anonymous).equals(javaBatch('plain'))).toBe(true)
})

test('a batch is never larger than its bound, and takes records until the next would pass it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 5000 }), fc.array(fc.nat(120), { minLength: 1 }), (maxBytes, sizes) => {
      const builder = new BatchBuilder({ maxBytes, expectedBytes: 100 })
      const taken = sizes.filter((size) => builder.tryAppend(record(size))).length
      const batch = builder.build(session)
      expect(batch.length).toBe(builder.sizeBytes)
      expect(batch.length).toBeLessThanOrEqual(maxBytes)
      expect(builder.count).toBe(taken)
      if (taken < sizes.length) expect(batch.length + 140).toBeGreaterThan(maxBytes)
    }),
  )
})

test('a record that just fits is taken alone; one byte more names size, bound and fix', () => {
  const alone = builderOf([record(1000)]).sizeBytes
  expect(new BatchBuilder({ maxBytes: alone }).tryAppend(record(1000))).toBe(true)
  const tooSmall = new BatchBuilder({ maxBytes: alone - 1, topic: 'flights.late' })
  expect(() => tooSmall.tryAppend(record(1000))).toThrow(
    `RECORD_TOO_LARGE: the record takes ${alone} bytes as a batch of its own, topic flights.late accepts ${alone - 1}: raise max.message.bytes`,
  )
  expect(tooSmall.count).toBe(0)
})

test.each([Number.NaN, 0.5, 2 ** 52, -(2 ** 52)])('the timestamp %d is refused, not bent', (timestampMs) => {
  expect(() => new BatchBuilder({ maxBytes: 1000 }).tryAppend(record(1, timestampMs))).toThrow('RECORD_INVALID')
})

test('nothing is sent empty, and nothing is added after the end', () => {
  expect(() => new BatchBuilder({ maxBytes: 1000 }).build(session)).toThrow('INVARIANT_BROKEN')
  const builder = builderOf([record(1)])
  builder.build(session)
  expect(() => builder.tryAppend(record(1))).toThrow('INVARIANT_BROKEN')
})

test.each(['gzip', 'zstd'] as const)('%s makes the batch smaller and keeps every record', (compression) => {
  const batch = builderOf(smallRecords, { compression }).build(session)
  expect(batch.length).toBeLessThan(javaBatch('small-none').length / 2)
  expect(decode(batch)).toEqual(decode(javaBatch('small-none')))
})

test('what compression would make larger is sent as it is, so that the bound holds', () => {
  const builder = builderOf([record(1)], { compression: 'gzip' })
  expect(builder.build(session).length).toBe(builder.sizeBytes)
})

const field = fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)))
const anyRecord: fc.Arbitrary<OutputRecord> = fc.record({
  key: field,
  value: field,
  timestampMs: fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
  headers: fc.array(fc.record({ key: fc.string({ unit: 'binary', maxLength: 40 }), value: field }), { maxLength: 5 }),
})

test('whatever is written is read back: nulls, empties, repeated names, order, timestamps', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 200 }), (records) => {
      const read = decode(builderOf(records, { expectedBytes: 64, maxBytes: 10_000_000 }).build(session))
      expect(read.map(({ key, value, timestampMs, headers }) => ({ key, value, timestampMs, headers }))).toEqual(
        records,
      )
      expect(read.map(({ offset }) => offset)).toEqual(records.map((_, i) => BigInt(i)))
    }),
  )
})
