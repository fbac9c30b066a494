import type { Deadline } from '../../clock.ts'
import type { FenceStop } from '../../fencing/fence-record.ts'
import type { LaneId } from '../lane-id.ts'
import type { RelayDeployment } from '../runtime.ts'
import { ownLane } from './own-lane.ts'

/**
 * Lets a stopped lane go on from where it is, at its next bell or sweep. What stopped it should be mended: otherwise it
 * stops again. Deaths are forgotten too, so that a record which was taken for poison gets its chances anew.
 * @returns why it was stopped; null: it was not, and nothing was written
 * @throws RelayError LANE_LEASED, the fence store's
 */
export async function resumeLane(
  deployment: RelayDeployment,
  id: LaneId,
  deadline: Deadline,
): Promise<FenceStop | null> {
  const record = await deployment.fences.read(id.transactionalId, deadline)
  if (!record?.stopped) return null
  let stopped: FenceStop | null = null
  await ownLane(deployment, id, deadline, async ({ fence }) => {
    stopped = fence.record.stopped
    await fence.note({ stopped: null, attempts: 0, intent: null }, deadline)
    return { kind: 'unopened' }
  })
  return stopped
}
