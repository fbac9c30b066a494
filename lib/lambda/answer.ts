import { RelayError } from '../errors.ts'
import type { LaneEnd } from '../relay/attend-lane.ts'
import type { Bell } from '../relay/bell.ts'
import type { TransformCounts } from '../relay/compiled-relay.ts'
import type { InvocationReport } from '../relay/invocation.ts'
import { type PartialFailures, partialFailures } from './partial-failures.ts'

/** For whoever invokes the function by hand, and for the local stack; an event source mapping does not look at it. */
export interface Summary extends TransformCounts {
  readonly lanes: number
  readonly windows: number
  readonly stopped: readonly string[]
}

type EventBell = Extract<Bell, { kind: 'event' }>

/**
 * The function's answer to its event source mapping. Without `ReportBatchItemFailures` any failed lane fails the whole
 * batch, which is delivered again; lanes that are done find nothing to do then.
 * @throws RelayError the failure, or all of them in one message
 */
export function answerOf(
  bells: readonly EventBell[],
  reports: readonly InvocationReport[],
  counts: TransformCounts,
  partial: boolean,
): PartialFailures | Summary {
  const ends = reports.flatMap(({ lanes }) => lanes)
  if (!partial) return assertAllDone({ lanes: ends, ok: true }, counts)
  const failed = new Set(ends.filter(({ kind }) => kind === 'failed').flatMap(({ id }) => keysOf(id)))
  const failures = bells.flatMap(({ topic, partitions }) =>
    partitions
      .filter(({ partition }) => failed.has(`${topic}/${partition}`))
      .map(({ partition, firstOffset }) => ({ topic, partition, fromOffset: firstOffset })),
  )
  return partialFailures(failures)
}

const keysOf = ({ topic, partitions }: LaneEnd['id']): string[] =>
  partitions.map((partition) => `${topic}/${partition}`)

/** @throws RelayError when a lane must be rung again */
export function assertAllDone({ lanes }: InvocationReport, counts: TransformCounts): Summary {
  const errors = lanes.flatMap((end) => (end.kind === 'failed' ? [end.error] : []))
  const [first] = errors
  if (first && errors.length === 1) throw first
  if (first) throw severalFailed(first, errors)
  return {
    lanes: lanes.length,
    windows: lanes.reduce((sum, end) => sum + (end.kind === 'done' ? end.windows : 0), 0),
    ...counts,
    stopped: lanes.flatMap((end) => (end.kind === 'stopped' ? [`${end.id.transactionalId}: ${end.code}`] : [])),
  }
}

function severalFailed(first: RelayError, errors: readonly RelayError[]): RelayError {
  const message = `${errors.length} lanes failed: ${errors.map((error) => error.message).join('; ')}`
  return new RelayError(first.code, message, { cause: first, outcome: first.outcome })
}
