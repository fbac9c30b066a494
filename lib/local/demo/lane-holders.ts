import { deadlineIn, systemClock } from '../../clock.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import { lanesOf } from '../../relay/lane-id.ts'
import { prefix, relay, sourcePartitions } from './relay-deployment.ts'

const readTimeoutMs = 2_000

/** The containers that the fence records name as owners: they hold a lane, or died while they did. */
export async function laneHolders(fences: FenceStore): Promise<readonly string[]> {
  const { name, sourceTopic: topic, partitionsPerLane } = relay
  const lanes = lanesOf(Array(sourcePartitions).keys(), sourcePartitions, {
    prefix,
    relay: name,
    topic,
    partitionsPerLane,
  })
  const deadline = deadlineIn(systemClock, readTimeoutMs)
  const records = await Promise.all(lanes.map(({ transactionalId }) => fences.read(transactionalId, deadline)))
  return records.flatMap((record) => record?.owner?.container ?? [])
}
