import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../../lib/local/esm-poller/event-encoding.ts'
import { PartitionQueue } from '../../../../lib/local/esm-poller/partition-queue.ts'

const entry = (offset: number): Entry => ({
  record: { topic: 't', partition: 0, offset },
  jsonBytes: 10,
  arrivedAtMs: 0,
})
const queue = (position = 0n) => new PartitionQueue('t', 0, position)

describe('what may be committed', () => {
  test('the position when nothing is left: past markers and records that no event carries', () => {
    const its = queue()
    its.push([entry(3), entry(4)], 9n)
    its.take(2)
    expect(its.doneUntil).toBe(9n)
  })

  test('the next record that waits, and no offset behind it', () => {
    const its = queue()
    its.push([entry(3), entry(5)], 9n)
    its.take(1)
    expect(its.doneUntil).toBe(5n)
  })

  test('what is put back is not done', () => {
    const its = queue()
    its.push([entry(3), entry(4), entry(5)], 6n)
    const [, ...failed] = its.take(3)
    its.putBack(failed)
    expect(its.doneUntil).toBe(4n)
    expect(its.take(2)).toEqual([entry(4), entry(5)])
  })
})

test('a queue is full by records or by bytes, and has room again when they are taken', () => {
  const its = queue()
  its.push([entry(0), entry(1), entry(2)], 3n)
  expect(its.isFull(4, 31)).toBe(false)
  expect(its.isFull(3, 1_000)).toBe(true)
  expect(its.isFull(1_000, 30)).toBe(true)
  its.take(1)
  expect(its.isFull(3, 30)).toBe(false)
})

test('a fetch of many small records does not exhaust the stack', () => {
  const its = queue()
  its.push(
    Array.from({ length: 300_000 }, (_, offset) => entry(offset)),
    300_000n,
  )
  expect(its.entries).toHaveLength(300_000)
})
