import { type Deadline, sooner } from '../../clock.ts'
import { isRelayError, RelayError } from '../../errors.ts'
import type { FenceRecord } from '../../fencing/fence-record.ts'
import { withdrawals } from '../../fencing/fence-rules.ts'
import type { LaneId } from '../lane-id.ts'
import type { RelayDeployment } from '../runtime.ts'
import { ownLane } from './own-lane.ts'

export interface RollbackQuestion {
  readonly lanes: readonly LaneId[]
  /** The deployment to withdraw; null: the newest that has had a lane. */
  readonly withdraw: number | null
  /** The deployment to go back to: those between are withdrawn too. null: any that was not withdrawn before. */
  readonly to: number | null
}

export interface RollbackPlan {
  readonly withdraw: number
  readonly above: number
  /** The deployment that was named to go back to: welcome again, although it was withdrawn before. */
  readonly welcome: number | null
  readonly lanes: readonly LaneRollback[]
}

export interface LaneRollback {
  readonly id: LaneId
  /** Of the record now. */
  readonly generation: number
  readonly isDone: boolean
}

/**
 * What a rollback would do, lane by lane. The same question asked again, after a part of it was done or all of it, is about
 * the same deployment, not about the one that has been gone back to. Lanes that never had a record need nothing.
 * @throws RelayError CONFIG_INVALID when there is nothing to withdraw
 */
export async function planRollback(
  { fences }: RelayDeployment,
  { lanes, withdraw, to }: RollbackQuestion,
  deadline: Deadline,
): Promise<RollbackPlan> {
  const read = async (id: LaneId) => ({ id, record: await fences.read(id.transactionalId, deadline) })
  const found = (await Promise.all(lanes.map(read))).flatMap(({ id, record }) => (record ? [{ id, record }] : []))
  const known = found.flatMap(({ record }) => [record.generation, record.withdrawn?.upTo ?? 0])
  const newest = withdraw ?? Math.max(0, ...known)
  if (newest === 0) throw nothingToWithdraw()
  const above =
    to ??
    newestKept(
      newest,
      found.map(({ record }) => record),
    )
  if (above >= newest) throw notOlder(newest, above)
  const isDone = (record: FenceRecord) =>
    record.withdrawn?.upTo === newest &&
    record.withdrawn.above === above &&
    !withdrawals(record).some((range) => holds(range, to))
  return {
    withdraw: newest,
    above,
    welcome: to,
    lanes: found.map(({ id, record }) => ({ id, generation: record.generation, isDone: isDone(record) })),
  }
}

/** Below the one to withdraw; and below those that were withdrawn right before it, which nobody wants back. */
function newestKept(newest: number, records: readonly FenceRecord[]): number {
  const before = records.flatMap(({ withdrawn }) =>
    withdrawn && withdrawn.upTo >= newest - 1 ? [withdrawn.above] : [],
  )
  return Math.min(newest - 1, ...before)
}

const holds = ([above, upTo]: readonly [number, number], generation: number | null): boolean =>
  generation !== null && generation > above && generation <= upTo

/** What was withdrawn stays so: a process of it may still be there, and would shut out the one that is gone back to. */
function stillWithdrawn(record: FenceRecord, welcome: number | null): ReadonlyMap<number, number> {
  const kept = new Map<number, number>()
  for (const range of withdrawals(record)) {
    const [above, upTo] = range
    if (!holds(range, welcome)) kept.set(above, Math.max(upTo, kept.get(above) ?? 0))
  }
  return kept
}

const askAgainMs = 200
/** Somebody else has the lane, or has taken it from us: he is waited for. */
const taken: ReadonlySet<string> = new Set(['LANE_LEASED', 'FENCE_SUPERSEDED'])

/**
 * Withdraws the deployment from one lane: its functions stand down from now on, older ones may take the lane at once
 * instead of after the 15 minutes of R14. Its owner finishes first, and is waited for.
 * @throws RelayError LANE_LEASED, FENCE_SUPERSEDED when owners have not finished by the deadline, the fence store's
 */
export async function rollBackLane(
  deployment: RelayDeployment,
  { id }: LaneRollback,
  plan: Pick<RollbackPlan, 'withdraw' | 'above' | 'welcome'>,
  deadline: Deadline,
): Promise<void> {
  const { clock, random } = deployment
  for (;;) {
    try {
      return await withdrawFrom(deployment, id, plan, deadline)
    } catch (error) {
      if (!isRelayError(error) || !taken.has(error.code) || deadline.remainingMs() <= askAgainMs * 2) throw error
    }
    await clock.sleep(askAgainMs * (0.5 + random.fraction()))
  }
}

const oneTryMs = 10_000

function withdrawFrom(
  deployment: RelayDeployment,
  id: LaneId,
  { withdraw: upTo, above, welcome }: Pick<RollbackPlan, 'withdraw' | 'above' | 'welcome'>,
  deadline: Deadline,
) {
  const { clock } = deployment
  const soon = sooner(clock, deadline, oneTryMs)
  return ownLane(deployment, id, soon, async ({ fence }) => {
    const { generation } = fence.record
    const withdrawn = { above, upTo, atMs: clock.now() }
    const withdrawnBefore = stillWithdrawn(fence.record, welcome)
    // 0: the first that comes and is not withdrawn owns the lane.
    const free = generation > above && { generation: 0, generationAtMs: clock.now() }
    await fence.note({ withdrawn, withdrawnBefore, ...free }, soon)
    return { kind: 'unopened' }
  })
}

const nothingToWithdraw = (): RelayError =>
  new RelayError(
    'CONFIG_INVALID',
    'no lane has been owned by a numbered deployment: there is nothing to roll back; number them by FENCEPOST_GENERATION',
  )

const notOlder = (newest: number, above: number): RelayError =>
  new RelayError('CONFIG_INVALID', `generation ${above} is not older than ${newest}, the one to withdraw`)
