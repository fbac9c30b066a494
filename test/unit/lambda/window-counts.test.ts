import { expect, test } from 'vitest'
import { assertAllDone } from '../../../lib/lambda/answer.ts'
import { WindowCounts } from '../../../lib/lambda/window-counts.ts'
import type { LaneId } from '../../../lib/relay/lane-id.ts'

const window = (records: number, deadLetters: number) => ({
  lane: 'p.r.t.0',
  counts: { records, outputs: records - deadLetters, deadLetters, skipped: 0 },
  until: {},
  bytes: 1,
  timings: { readMs: 1, transformMs: 1, commitMs: 1 },
})
const id: LaneId = {
  relay: 'r',
  topic: 't',
  lane: 0,
  partitions: [0],
  transactionalId: 'p.r.t.0',
  group: 'p.r',
}

test('an answer says what the windows of its invocation came to, and of no earlier one', () => {
  const counts = new WindowCounts()
  counts.observer.windowCommitted?.(window(100, 0))
  counts.reset()
  counts.observer.windowCommitted?.(window(3, 1))
  counts.observer.windowCommitted?.(window(2, 0))
  expect(assertAllDone({ lanes: [{ kind: 'done', id, windows: 2 }], ok: true }, counts.total)).toEqual({
    lanes: 1,
    windows: 2,
    records: 5,
    outputs: 4,
    deadLetters: 1,
    skipped: 0,
    stopped: [],
  })
})
