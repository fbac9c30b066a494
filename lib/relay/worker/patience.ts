import type { Random } from '../../clock.ts'
import { minutes, seconds } from '../../units.ts'
import type { LaneEnd } from '../attend-lane.ts'

/** Another worker has the lane: it may give it up at any time. */
const leftMs = seconds(1)
/** An operator has to do something first. */
const stoppedMs = seconds(30)
const failedFirstMs = seconds(0.5)
const failedMaxMs = minutes(0.5)

/**
 * How long a lane is left alone after a shift that has ended so, `failures` of them in a row. Jittered, so that workers
 * which failed together do not come back together.
 */
export function pauseAfter(end: LaneEnd, failures: number, random: Random): number {
  const jittered = (ms: number): number => ms * (0.5 + random.fraction())
  if (end.kind === 'left') return jittered(leftMs)
  if (end.kind === 'stopped') return jittered(stoppedMs)
  return failures === 0 ? 0 : jittered(Math.min(failedFirstMs * 2 ** (failures - 1), failedMaxMs))
}

/** Whether the lane has met something that stands in its way; to be out of time is how a long shift ends. */
export const hasFailed = (end: LaneEnd): boolean => end.kind === 'failed' && end.error.code !== 'OUT_OF_TIME'
