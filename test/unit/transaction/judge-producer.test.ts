import { describe, expect, test } from 'vitest'
import { judgeProducer, type KnownTransaction, type OpenProducer } from '../../../lib/transaction/judge-producer.ts'

const nowMs = 10_000_000
const olderThanMs = 900_000
const open: OpenProducer = {
  topic: 'flights',
  partition: 3,
  producerId: 7n,
  producerEpoch: 4,
  coordinatorEpoch: -1,
  startOffset: 12n,
  lastSequence: 9,
  lastTimestampMs: nowMs - olderThanMs,
}
const known = (over: Partial<KnownTransaction> = {}): KnownTransaction => ({
  transactionalId: 'theirs',
  producerIds: [7n],
  producerEpoch: 5,
  state: 'CompleteAbort',
  startedAtMs: -1,
  partitions: new Set(),
  ...over,
})
const here = new Set(['flights-3'])
const kindOf = (all: readonly KnownTransaction[], one = open) => judgeProducer(one, all, nowMs, olderThanMs).kind

describe('an open transaction', () => {
  test('hangs when no coordinator knows its producer id', () => {
    expect(kindOf([])).toBe('hanging')
    expect(kindOf([known({ producerIds: [8n], state: 'Ongoing', partitions: here, producerEpoch: 4 })])).toBe('hanging')
  })

  test('hangs when its coordinator has a higher epoch and waits for no marker here', () => {
    expect(kindOf([known()])).toBe('hanging')
    expect(kindOf([known({ state: 'Ongoing', partitions: new Set(['flights-2']) })])).toBe('hanging')
  })

  test.each(['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'])(
    'is live while its coordinator is %s and has the partition, whatever the epochs',
    (state) => {
      for (const producerEpoch of [3, 4, 5])
        expect(kindOf([known({ state, partitions: here, producerEpoch })])).toBe('live')
    },
  )

  test('is never taken to hang while its producer may write on under the same epoch (P9)', () => {
    for (const state of ['Empty', 'CompleteCommit', 'CompleteAbort', 'Ongoing', 'PrepareAbort'])
      expect(kindOf([known({ state, producerEpoch: 4 })])).toBe('not fenced')
  })

  test('is not judged by a coordinator that lags behind the partition, or changed the producer id meanwhile', () => {
    expect(kindOf([known({ producerEpoch: 3 })])).toBe('not fenced')
    expect(kindOf([known({ producerIds: [7n, 9n] })])).toBe('not fenced')
  })

  test('is young until nobody has written to it for so long', () => {
    const younger = { ...open, lastTimestampMs: open.lastTimestampMs + 1 }
    expect(kindOf([], younger)).toBe('young')
    expect(kindOf([known()], younger)).toBe('young')
    expect(judgeProducer(younger, [], nowMs, 0).kind).toBe('hanging')
  })
})
