import fc from 'fast-check'
import { expect, test } from 'vitest'
import { murmur2, partitionFor } from '../../../lib/kafka/partitioner.ts'

test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])("murmur2 of %j is what Kafka's UtilsTest expects", (text, hash) => {
  expect(murmur2(Buffer.from(text))).toBe(hash)
})

test.each([
  ['21', 10, 0],
  ['foobar', 10, 6],
  ['abc', 7, 4],
])('%j of %d partitions goes to the one that the Java client chooses', (text, partitionCount, partition) => {
  expect(partitionFor({ key: Buffer.from(text), sourcePartition: 3, partitionCount })).toBe(partition)
})

test('a key decides alone: the source partition changes nothing', () => {
  fc.assert(
    fc.property(
      fc.uint8Array(),
      fc.nat(50),
      fc.integer({ min: 1, max: 50 }),
      (bytes, sourcePartition, partitionCount) => {
        const key = Buffer.from(bytes)
        const partition = partitionFor({ key, sourcePartition, partitionCount })
        expect(partition).toBe(partitionFor({ key, sourcePartition: 0, partitionCount }))
        expect(partition).toBeGreaterThanOrEqual(0)
        expect(partition).toBeLessThan(partitionCount)
      },
    ),
  )
})

test('keyless records follow their source partition, so that a retry gives the same partition', () => {
  expect(partitionFor({ key: null, sourcePartition: 5, partitionCount: 4 })).toBe(1)
  expect(partitionFor({ key: null, sourcePartition: 2, partitionCount: 4 })).toBe(2)
})

test('an empty key is a key', () => {
  expect(partitionFor({ key: Buffer.alloc(0), sourcePartition: 0, partitionCount: 1000 })).toBe(681)
})
