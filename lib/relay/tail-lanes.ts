import { type Deadline, deadlineAt, sooner } from '../clock.ts'
import { seconds } from '../units.ts'
import { type Attendance, attendLane, type LaneEnd } from './attend-lane.ts'
import type { LaneId } from './lane-id.ts'
import { type Look, look } from './look.ts'

type Seen = ReadonlyMap<LaneId, Look>

/** A relay that commits without pause asks the brokers at most this often whether something has come. */
const lookEveryMsMin = 100
/** A look at brokers that do not answer is given up, and another one taken. */
const lookWithinMs = seconds(5)

/**
 * What a lingering pull does with its lanes (R13). Those with work are opened at once and tail by themselves. The others
 * stay closed, so that a quiet lane costs no fence; they are looked at as often as an open one would be, all together,
 * and opened when something comes.
 *
 * @throws RelayError of the last look, once the open lanes have ended, when time ran out before one succeeded again
 */
export async function tailLanes(attendance: Attendance, first: Seen): Promise<LaneEnd[]> {
  const ends: Promise<LaneEnd>[] = []
  const attend = (lanes: Seen) => {
    for (const [id, seen] of lanes) ends.push(attendLane(attendance, id, seen))
  }
  const [busy, quiet] = divided(first)
  attend(busy)
  const { left, failure } = await watch(attendance, quiet, attend)
  if (failure === null) attend(left)
  const all = await Promise.all(ends)
  if (failure !== null) throw failure
  return all
}

/** Looks until time is up or no lane is left. Answers those for which nothing came, and the error if the last look failed. */
async function watch(attendance: Attendance, quiet: Seen, attend: (lanes: Seen) => void) {
  const { runtime, topics, bell } = attendance
  let left = quiet
  let failure: unknown = null
  while (left.size > 0 && (await hasPaused(attendance))) {
    const within = sooner(runtime.clock, endOf(attendance), lookWithinMs)
    const seen = await look(runtime, topics, [...left.keys()], bell, within).catch((error) => {
      failure = error
      return null
    })
    if (seen === null) continue
    failure = null
    const [busy, still] = divided(seen)
    attend(busy)
    left = still
  }
  return { left, failure }
}

/** False, at once, when a lane opened after the pause would have no time left. */
async function hasPaused(attendance: Attendance): Promise<boolean> {
  const { clock, relay } = attendance.runtime
  const pauseMs = Math.max(relay.commitEveryMs, lookEveryMsMin)
  if (pauseMs >= endOf(attendance).remainingMs()) return false
  await clock.sleep(pauseMs)
  return true
}

function endOf({ runtime, bell, deadline }: Attendance): Deadline {
  const { clock, settings } = runtime
  const untilMs = bell.kind === 'pull' ? (bell.lingerUntilMs ?? 0) : 0
  return deadlineAt(clock, Math.min(untilMs, deadline.atMs - settings.commitReserveMs))
}

/** Those with something to do, and those without. */
function divided(lanes: Seen): readonly [Seen, Seen] {
  const those = (past: boolean): Seen => new Map([...lanes].filter(([, seen]) => seen.past === past))
  return [those(false), those(true)]
}
