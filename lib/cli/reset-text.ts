import type { RelayError } from '../errors.ts'
import type { LaneReset, PartitionMove } from '../relay/operator/plan-reset.ts'
import { offsetFigure } from './table.ts'

export interface LaneOutcome {
  readonly lane: LaneReset
  /** `unknown`: no answer came; if it was decided, the next bell finishes it. Ask `fencepost status`, or reset again. */
  readonly state: 'planned' | 'reset' | 'not reset' | 'unknown'
  readonly error?: RelayError
}

/** What the reset would do, a line for each partition. */
export const planLines = (plan: readonly LaneReset[]): readonly string[] =>
  plan.flatMap(({ id, record, moves }) => [
    ...moves.map((move) => `lane ${id.lane}, partition ${move.partition}: ${effectOf(move)}`),
    ...(record?.stopped ? [`  it is stopped (${record.stopped.code}) and would go on from there`] : []),
    ...(record?.owner ? [`  ${record.owner.container} holds it: refused while its lease lives`] : []),
  ])

function effectOf({ from, to, skipped, repeated }: PartitionMove): string {
  if (from === null) return `begins at ${offsetFigure(to)}`
  if (from === to) return `stays at ${offsetFigure(to)}`
  const way = `from ${offsetFigure(from)} to ${offsetFigure(to)}`
  if (skipped > 0n) return `${way}, up to ${offsetFigure(skipped)} records are never relayed`
  return `${way}, up to ${offsetFigure(repeated)} records are relayed once more`
}

const signs = { planned: '·', reset: '✓', 'not reset': '✗', unknown: '?' } as const

export const outcomeLines = (outcomes: readonly LaneOutcome[]): readonly string[] =>
  outcomes.map(({ lane, state, error }) =>
    state === 'planned'
      ? `${signs[state]} ${lane.id.transactionalId}: nothing was changed (--dry-run)`
      : `${signs[state]} ${lane.id.transactionalId}: ${error ? error.message : 'goes on from there'}`,
  )

export function resetJson(outcomes: readonly LaneOutcome[], { ok, dryRun }: { ok: boolean; dryRun: boolean }) {
  const lanes = outcomes.map(({ lane, state, error }) => ({
    lane: lane.id.transactionalId,
    state,
    stopped: lane.record?.stopped?.code ?? null,
    partitions: lane.moves.map(moveJson),
    ...(error && { code: error.code, message: error.message }),
  }))
  return { ok, dryRun, lanes }
}

const moveJson = ({ partition, from, to, skipped, repeated }: PartitionMove) => ({
  partition,
  from: from?.toString() ?? null,
  to: to.toString(),
  skipped: skipped.toString(),
  repeated: repeated.toString(),
})
