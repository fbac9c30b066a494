import type { Deadline } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { FenceRecord } from '../../fencing/fence-record.ts'
import { type Anchored, anchorLane } from '../anchor.ts'
import { openBehindBarrier } from '../barrier.ts'
import type { RelayTopics } from '../relay-topics.ts'
import type { RelayDeployment } from '../runtime.ts'
import { ownLane } from './own-lane.ts'
import type { LaneReset } from './plan-reset.ts'

const pull = { kind: 'pull', lingerUntilMs: null } as const

/**
 * R16. Moves a lane, stopped or not, to the positions of a plan. Only while it is as the plan saw it: an order that comes
 * late would skip or repeat other records than those that were agreed to.
 *
 * Behind a barrier, so that no older owner commits any more, one acknowledged write makes the decision durable: it names
 * the positions and ends the stop. Whoever owns the lane afterwards finishes it, this process or the next bell: commits the
 * positions through the lane's own id, then remembers them as F, then forgets the order (reconcile.ts, anchor.ts). So this
 * process may die at any point.
 * @throws RelayError LANE_LEASED, RESET_REFUSED and what ends a lane's opening; with outcome `unknown` the decision may stand
 */
export async function resetLane(
  deployment: RelayDeployment,
  topics: RelayTopics,
  { id, record, moves }: LaneReset,
  deadline: Deadline,
): Promise<void> {
  const resetTo = new Map(moves.map(({ partition, to }) => [partition, to]))
  await ownLane(deployment, id, deadline, async ({ fence, found }) => {
    if (found?.revision !== record?.revision) throw hasMoved(id.transactionalId, record, found)
    await openBehindBarrier(deployment, id, fence, deadline)
    await fence.note({ resetTo, stopped: null, attempts: 0, intent: null }, deadline)
    const underway = { runtime: deployment, id, topics, fence, found: fence.record, windowsTried: false }
    return settled(await anchorLane(underway, pull, deadline))
  })
}

function hasMoved(id: string, planned: FenceRecord | null, found: FenceRecord | null): RelayError {
  const was = (record: FenceRecord | null) => (record ? `at revision ${record.revision}` : 'missing')
  const message = `lane ${id} was opened since the reset was planned: its record was ${was(planned)}, now it is ${was(found)}; disable the trigger of its function, then plan the reset anew`
  return new RelayError('RESET_REFUSED', message, { context: { lane: id } })
}

const settled = ({ positions, committedAtMs, session }: Anchored) => ({
  kind: 'settled' as const,
  committedUntil: positions,
  committedAtMs,
  producer: { id: session.producerId, epoch: session.producerEpoch },
})
