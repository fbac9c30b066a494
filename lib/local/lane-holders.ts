import { deadlineIn, systemClock } from '../clock.ts'
import type { FenceStore } from '../fencing/fence-store.ts'
import type { LaneId } from '../relay/lane-id.ts'

const readTimeoutMs = 2_000

/** The containers that the fence records name as owners: they hold a lane, or died while they did. */
export async function laneHolders(fences: FenceStore, lanes: readonly LaneId[]): Promise<readonly string[]> {
  const deadline = deadlineIn(systemClock, readTimeoutMs)
  const records = await Promise.all(lanes.map(({ transactionalId }) => fences.read(transactionalId, deadline)))
  return records.flatMap((record) => record?.owner?.container ?? [])
}
