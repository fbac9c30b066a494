import { lanePartitions } from '../sim-relay.ts'
import type { Sabotage } from '../world.ts'
import { askedFor, isReading, withoutStepNine } from './committed-memory.ts'
import { intercepted, isCall } from './intercept.ts'

/**
 * Takes the offset behind the barrier as it stands, though another one is pending. The barrier of 4.x leaves none pending; on
 * 3.x the coordinator reads its markers a moment later.
 */
export const readsUnstable: Sabotage = {
  cluster(cluster, { plan }) {
    const opening = new Set<string>()
    const unstable = intercepted(cluster, (call, send) => {
      if (isCall(call, 'InitProducerId') && call.body.transactionalId !== null) {
        opening.add(lanePartitions(call.body.transactionalId, plan.lanes).join())
      }
      if (!isCall(call, 'OffsetFetch') || !isReading(call) || !opening.delete(askedFor(call))) return send(call)
      return send<'OffsetFetch'>({ ...call, body: { ...call.body, requireStable: false } })
    })
    return intercepted(unstable, withoutStepNine())
  },
}
