import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRelayError } from '../../../../lib/errors.ts'
import type { KafkaRecord } from '../../../../lib/kafka/record.ts'
import { readBatches } from '../../../../lib/kafka/record-batch/decode.ts'
import { attribute, header } from '../../../../lib/kafka/record-batch/layout.ts'
import { javaBatch, pattern, smallRecords } from '../../../helpers/java-batches.ts'
import { logBatch, marker, resign } from '../../../helpers/log-batches.ts'

const source = { topic: 'flights', partition: 3 }
const batchesOf = (bytes: Buffer, maxInflatedBytes?: number) => [...readBatches(bytes, source, maxInflatedBytes)]
const recordsOf = (bytes: Buffer, maxInflatedBytes?: number) =>
  batchesOf(bytes, maxInflatedBytes).flatMap((batch) => batch.records())
const outputOf = ({ key, value, timestampMs, headers }: KafkaRecord) => ({ key, value, timestampMs, headers })

function codeOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (isRelayError(error)) return error.code
    throw error
  }
  return 'read without an error'
}

test.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'])(
  'records that Java wrote with %s are read exactly',
  (compression) => {
    const records = recordsOf(javaBatch(`small-${compression}`))
    expect(records.map(outputOf)).toEqual(smallRecords)
    expect(records.map(({ offset }) => offset)).toEqual([0n, 1n, 2n, 3n])
    expect(records[0]).toMatchObject({ ...source, timestampType: 'CreateTime' })
  },
)

test.each(['gzip', 'snappy', 'lz4', 'zstd'])('records larger than a block of %s are read exactly', (compression) => {
  const records = recordsOf(javaBatch(`large-${compression}`))
  expect(records.map(({ offset }) => offset)).toEqual([100n, 101n])
  for (const { value } of records) expect(value?.equals(pattern(150_000))).toBe(true)
})

test('the header of a batch tells who wrote it, where and when', () => {
  const [batch] = batchesOf(javaBatch('small-none'))
  expect(batch).toMatchObject({
    baseOffset: 0n,
    lastOffset: 3n,
    nextOffset: 4n,
    producerId: 42n,
    producerEpoch: 7,
    baseSequence: 1000,
    isTransactional: true,
    isControl: false,
    partitionLeaderEpoch: -1,
    recordCount: 4,
    maxTimestampMs: 1_800_000_000_000,
  })
})

test('markers are recognised as commit and abort', () => {
  const [commit] = batchesOf(javaBatch('commit-marker'))
  expect(commit).toMatchObject({ isControl: true, isTransactional: true, baseOffset: 55n, producerId: 42n })
  expect(commit?.controlKind()).toBe('commit')
  expect(batchesOf(javaBatch('abort-marker'))[0]?.controlKind()).toBe('abort')
})

test('log append time replaces the timestamps of the producer', () => {
  const records = recordsOf(javaBatch('log-append-time'))
  expect(new Set(records.map(({ timestampType }) => timestampType))).toEqual(new Set(['LogAppendTime']))
  expect(new Set(records.map(({ timestampMs }) => timestampMs)).size).toBe(1)
})

test('a batch that compaction emptied has no record and still a next offset', () => {
  const [batch] = batchesOf(javaBatch('emptied'))
  expect(batch?.records()).toEqual([])
  expect(batch).toMatchObject({ baseOffset: 30n, lastOffset: 39n, nextOffset: 40n, recordCount: 0 })
})

test('a marker whose record compaction removed is neither commit nor abort', () => {
  const emptied = logBatch({ baseOffset: 5n, deltas: [], producerId: 1n, transactional: true, control: 'abort' })
  expect(batchesOf(emptied)[0]?.controlKind()).toBe('other')
})

test('several batches come in order; one cut off at any byte is left for the next fetch', () => {
  const whole = [logBatch({ baseOffset: 0n, deltas: [0, 1] }), marker('commit', 2n, 1n)]
  const cut = logBatch({ baseOffset: 3n, deltas: [0] })
  for (let bytes = 0; bytes < cut.length; bytes++) {
    const read = batchesOf(Buffer.concat([...whole, cut.subarray(0, bytes)]))
    expect(read.map(({ baseOffset }) => baseOffset)).toEqual([0n, 2n])
  }
})

test('any flipped bit that the checksum covers is found, with topic, partition and offset', () => {
  const intact = logBatch({ baseOffset: 77n, deltas: [0, 1, 2] })
  fc.assert(
    fc.property(fc.integer({ min: header.crc, max: intact.length - 1 }), fc.nat(7), (at, bit) => {
      const damaged = Buffer.from(intact)
      damaged[at] = (damaged[at] ?? 0) ^ (1 << bit)
      expect(() => batchesOf(damaged)).toThrow(/CORRUPT_BATCH: the batch at offset 77 of flights-3: its checksum is 0x/)
    }),
  )
})

test('damage where the checksum does not reach is refused by name too', () => {
  const negativeLength = logBatch({ baseOffset: 1n, deltas: [0] })
  negativeLength.writeInt32BE(-1, header.length)
  expect(codeOf(() => batchesOf(negativeLength))).toBe('CORRUPT_BATCH')
  const unknownFormat = logBatch({ baseOffset: 1n, deltas: [0] })
  unknownFormat.writeInt8(3, header.magic)
  expect(codeOf(() => batchesOf(unknownFormat))).toBe('CORRUPT_BATCH')
})

test('a batch of the old format is refused with its format and the fix', () => {
  expect(() => batchesOf(javaBatch('format-1'))).toThrow(
    'TOPIC_INVALID: the batch at offset 12 of flights-3 has message format 1, wanted 2',
  )
})

test.each([5, 6, 7])('compression %d, which does not exist, is refused by name', (bits) => {
  const batch = logBatch({ baseOffset: 1n, deltas: [0] })
  batch.writeInt16BE(bits, header.attributes)
  expect(() => recordsOf(resign(batch))).toThrow(
    `UNKNOWN_COMPRESSION: the batch at offset 1 of flights-3 has compression ${bits}`,
  )
})

test.each(['gzip', 'snappy', 'lz4', 'zstd'])(
  'a %s batch that inflates beyond the bound is refused, not swallowed',
  (compression) => {
    expect(codeOf(() => recordsOf(javaBatch(`large-${compression}`), 200_000))).toBe('BATCH_TOO_LARGE')
    expect(recordsOf(javaBatch(`large-${compression}`), 400_000)).toHaveLength(2)
  },
)

test.each([1, 2, 3, 4])('bytes that are not compressed as compression %d says are corrupt', (bits) => {
  const batch = logBatch({ baseOffset: 1n, deltas: [0] })
  batch.writeInt16BE(bits | attribute.transactional, header.attributes)
  expect(codeOf(() => recordsOf(resign(batch)))).toBe('CORRUPT_BATCH')
})

test('a record count that the bytes cannot hold, or do not fill, is corrupt', () => {
  for (const count of [-1, 1, 3, 0x7fffffff]) {
    const batch = logBatch({ baseOffset: 1n, deltas: [0, 1] })
    batch.writeInt32BE(count, header.recordCount)
    expect(codeOf(() => recordsOf(resign(batch)))).toBe('CORRUPT_BATCH')
  }
})

test('offsets that do not ascend are corrupt', () => {
  expect(codeOf(() => recordsOf(logBatch({ baseOffset: 1n, deltas: [1, 1] })))).toBe('CORRUPT_BATCH')
})

test('whatever is in the record bytes, the answer is records or CORRUPT_BATCH, and it comes', () => {
  const intact = javaBatch('small-none')
  fc.assert(
    fc.property(fc.nat(120), fc.uint8Array({ minLength: 1, maxLength: 12 }), (at, bytes) => {
      const damaged = Buffer.from(intact)
      damaged.set(bytes, 61 + at)
      expect(['CORRUPT_BATCH', 'read without an error']).toContain(codeOf(() => recordsOf(resign(damaged))))
    }),
    { numRuns: 1000 },
  )
})
