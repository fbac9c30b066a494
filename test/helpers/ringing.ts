/** Bells, and what an invocation answered to them. */
import { deadlineIn } from '../../lib/clock.ts'
import { isRelayError, type RelayError } from '../../lib/errors.ts'
import type { LaneEnd } from '../../lib/relay/attend-lane.ts'
import type { Bell } from '../../lib/relay/bell.ts'
import { type InvocationReport, runInvocation } from '../../lib/relay/invocation.ts'
import type { RelayRuntime } from '../../lib/relay/runtime.ts'

export const pull: Bell = { kind: 'pull', lingerUntilMs: null }

/** An event about offsets `first` to `last` of one partition. */
export const eventOf = (topic: string, first: number, last: number, partition = 0): Bell => ({
  kind: 'event',
  topic,
  partitions: [{ partition, firstOffset: BigInt(first), lastOffset: BigInt(last), records: () => [] }],
})

export const ring = (runtime: RelayRuntime, bell: Bell = pull, ms = 20_000): Promise<InvocationReport> =>
  runInvocation(runtime, bell, crypto.randomUUID(), deadlineIn(runtime.clock, ms))

/** The end of an invocation's only lane. */
export function onlyLane({ lanes }: InvocationReport): LaneEnd {
  const [lane] = lanes
  if (lane === undefined || lanes.length > 1) throw new Error(`there are ${lanes.length} lanes`)
  return lane
}

/** How the only lane failed. */
export async function failureOf(ringing: Promise<InvocationReport>): Promise<RelayError> {
  const lane = onlyLane(await ringing)
  if (lane.kind !== 'failed') throw new Error(`the lane is ${lane.kind}`)
  return lane.error
}

/** Why no lane was even looked at. */
export async function refusalOf(ringing: Promise<InvocationReport>): Promise<RelayError> {
  const error = await ringing.then(
    ({ ok }) => new Error(`it answered, ok: ${ok}`),
    (reason) => reason,
  )
  if (isRelayError(error)) return error
  throw error
}

/** Why the only lane was stopped. */
export async function stopOf(ringing: Promise<InvocationReport>): Promise<{ code: string; message: string }> {
  const lane = onlyLane(await ringing)
  if (lane.kind === 'stopped') return { code: lane.code, message: lane.message }
  throw new Error(`the lane is ${lane.kind}${lane.kind === 'failed' ? `: ${lane.error.message}` : ''}`)
}
