import { expect, test } from 'vitest'
import type { KafkaRecord } from '../../../lib/kafka/record.ts'
import type { Bell } from '../../../lib/relay/bell.ts'
import { windowFromEvent } from '../../../lib/relay/event-payload.ts'

const record = (partition: number, offset: bigint): KafkaRecord => ({
  topic: 'orders',
  partition,
  offset,
  timestampMs: 0,
  timestampType: 'CreateTime',
  key: null,
  value: null,
  headers: [],
})

function bellOf(...partitions: readonly (readonly [number, readonly bigint[]])[]): Bell {
  return {
    kind: 'event',
    topic: 'orders',
    partitions: partitions.map(([partition, offsets]) => ({
      partition,
      firstOffset: offsets[0] ?? 0n,
      lastOffset: offsets.at(-1) ?? 0n,
      records: () => offsets.map((offset) => record(partition, offset)),
    })),
  }
}

const limits = { recordsMax: 100, bytesMax: 1 << 20 }
const read = (bell: Bell, from: bigint, target: bigint, recordsMax = 100) => {
  const window = windowFromEvent(bell, new Map([[0, from]]), new Map([[0, target]]), { ...limits, recordsMax })
  return window && { offsets: window.records.map(({ offset }) => offset), until: window.until.get(0) }
}

test('records that follow on from the position come from the event', () => {
  expect(read(bellOf([0, [4n, 5n, 6n]]), 4n, 7n)).toEqual({ offsets: [4n, 5n, 6n], until: 7n })
})
test('what was relayed before is left out', () => {
  expect(read(bellOf([0, [4n, 5n, 6n]]), 6n, 7n)).toEqual({ offsets: [6n], until: 7n })
})
test('a hole ends what the event can tell: the log is read from there', () => {
  expect(read(bellOf([0, [4n, 6n]]), 4n, 7n)).toEqual({ offsets: [4n], until: 5n })
  expect(read(bellOf([0, [6n]]), 4n, 7n)).toBeNull()
})
test('nothing beyond the last stable offset, and no more than a window holds', () => {
  expect(read(bellOf([0, [4n, 5n, 6n]]), 4n, 6n)).toEqual({ offsets: [4n, 5n], until: 6n })
  expect(read(bellOf([0, [4n, 5n, 6n]]), 4n, 7n, 2)).toEqual({ offsets: [4n, 5n], until: 6n })
})
test('a pull has no payload', () => {
  expect(read({ kind: 'pull', lingerUntilMs: null }, 0n, 5n)).toBeNull()
})
test('a repeated record is taken once', () => {
  expect(read(bellOf([0, [4n, 4n, 5n]]), 4n, 6n)).toEqual({ offsets: [4n, 5n], until: 6n })
})
