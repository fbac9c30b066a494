import { describe, expect, test } from 'vitest'
import { RelayError } from '../../../../lib/errors.ts'
import type { LaneEnd } from '../../../../lib/relay/attend-lane.ts'
import { laneOf } from '../../../../lib/relay/lane-id.ts'
import { hasFailed, pauseAfter } from '../../../../lib/relay/worker/patience.ts'

const id = laneOf(0, 1, { prefix: 'shop', relay: 'copy', topic: 'source', partitionsPerLane: 1 })
const failed = (code: 'OUT_OF_TIME' | 'BROKER_ERROR'): LaneEnd => {
  return { kind: 'failed', id, error: new RelayError(code, 'as it happens'), windows: 0 }
}
const always = (fraction: number) => ({ id: () => '', fraction: () => fraction })

describe('how long a lane is left alone', () => {
  test('a shift that is done, or whose time is up, is followed by the next at once', () => {
    expect(pauseAfter({ kind: 'done', id, windows: 3 }, 0, always(1))).toBe(0)
    expect(hasFailed(failed('OUT_OF_TIME'))).toBe(false)
    expect(pauseAfter(failed('OUT_OF_TIME'), 0, always(1))).toBe(0)
  })

  test('failures in a row double the pause, from half a second to half a minute', () => {
    expect(hasFailed(failed('BROKER_ERROR'))).toBe(true)
    const pauses = [1, 2, 3, 50].map((failures) => pauseAfter(failed('BROKER_ERROR'), failures, always(0.5)))
    expect(pauses).toEqual([500, 1_000, 2_000, 30_000])
  })

  test('is jittered by half of it to either side', () => {
    const left: LaneEnd = { kind: 'left', id }
    expect([0, 1].map((fraction) => pauseAfter(left, 0, always(fraction)))).toEqual([500, 1_500])
  })

  test('is longest for a stopped lane: an operator has to come first', () => {
    expect(pauseAfter({ kind: 'stopped', id, code: 'OFFSET_MOVED', message: '' }, 0, always(0.5))).toBe(30_000)
  })
})
