import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { attendLane, type LaneEnd } from './attend-lane.ts'
import type { Bell } from './bell.ts'
import { look } from './look.ts'
import { lanesAt, type RelayTopics, relayTopics } from './relay-topics.ts'
import type { RelayRuntime } from './runtime.ts'
import { tailLanes } from './tail-lanes.ts'

export interface InvocationReport {
  readonly lanes: readonly LaneEnd[]
  /** Every lane is past its bell, or stopped and that is recorded (R12). */
  readonly ok: boolean
}

/**
 * One invocation: a bell says which lanes may have work; the log and the committed offsets say which really have; each
 * of those is opened (fence, barrier, offsets), drained window by window, and released. Lanes go on side by side, and
 * none of them can fail another.
 *
 * @throws RelayError when nothing can be done for any lane: TOPIC_MISSING, EVENT_INVALID, BROKER_UNAVAILABLE ...
 */
export async function runInvocation(
  runtime: RelayRuntime,
  bell: Bell,
  requestId: string,
  deadline: Deadline,
): Promise<InvocationReport> {
  const topics = await topicsFor(runtime, bell, deadline)
  const lanes = lanesAt(runtime, topics, partitionsRung(runtime, topics, bell))
  const seen = await look(runtime, topics, lanes, bell, deadline) // step 0
  const attendance = { runtime, topics, bell, requestId, deadline }
  const lingers = bell.kind === 'pull' && bell.lingerUntilMs !== null
  const ends = lingers
    ? await tailLanes(attendance, seen)
    : await Promise.all([...seen].map(([lane, what]) => attendLane(attendance, lane, what)))
  return { lanes: ends, ok: ends.every(({ kind }) => kind !== 'failed') }
}

/** A partition that was added a moment ago is in the event before it is in our metadata. */
async function topicsFor(runtime: RelayRuntime, bell: Bell, deadline: Deadline): Promise<RelayTopics> {
  const known = await relayTopics(runtime, deadline)
  const highest = bell.kind === 'event' ? Math.max(-1, ...bell.partitions.map(({ partition }) => partition)) : -1
  return highest < known.sourcePartitions ? known : relayTopics(runtime, deadline, 'fresh')
}

/** undefined: all there are. */
function partitionsRung({ relay }: RelayRuntime, { sourcePartitions }: RelayTopics, bell: Bell): number[] | undefined {
  if (bell.kind === 'pull') return undefined
  if (bell.topic !== relay.sourceTopic) {
    const message = `the event is of topic '${bell.topic}', relay '${relay.name}' reads '${relay.sourceTopic}'`
    throw new RelayError('EVENT_INVALID', `${message}: connect the trigger to the relay's own source topic`)
  }
  const rung = bell.partitions.map(({ partition }) => partition)
  const unknown = rung.filter((partition) => partition >= sourcePartitions)
  if (unknown.length === 0) return rung
  const message = `partition ${unknown.join(', ')} of '${bell.topic}' is not known: it has ${sourcePartitions}`
  throw new RelayError('EVENT_INVALID', `${message}; is the event of another cluster?`)
}
