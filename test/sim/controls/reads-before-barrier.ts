import type { Answer } from '../../../lib/kafka/cluster.ts'
import { group, lanePartitions, topics } from '../sim-relay.ts'
import type { Sabotage } from '../world.ts'
import { askedFor, isReading, withoutStepNine } from './committed-memory.ts'
import { type Call, intercepted, isCall, type Send } from './intercept.ts'

/**
 * Reads where the group stands, then calls InitProducerId, as examples on the web do; what the barrier commits or aborts in
 * between is not seen. Such a relay has no step 9 either, which would find it out.
 */
export const readsBeforeBarrier: Sabotage = {
  cluster(cluster, { plan }) {
    const early = new Map<string, Answer<'OffsetFetch'>>()
    const reading = intercepted(cluster, async (call, send) => {
      if (isCall(call, 'InitProducerId') && call.body.transactionalId !== null) {
        const partitions = lanePartitions(call.body.transactionalId, plan.lanes)
        if (!early.has(partitions.join())) early.set(partitions.join(), await readNow(call, partitions, send))
        return send<'InitProducerId'>(call)
      }
      if (!isCall(call, 'OffsetFetch') || !isReading(call)) return send(call)
      const known = early.get(askedFor(call))
      early.delete(askedFor(call))
      return known ?? send<'OffsetFetch'>(call)
    })
    return intercepted(reading, withoutStepNine())
  },
}

function readNow({ deadline }: Call, partitionIndexes: readonly number[], send: Send) {
  const groups = [{ groupId: group, topics: [{ name: topics.source, partitionIndexes }] }]
  return send({
    target: { to: 'group-coordinator', key: group },
    api: 'OffsetFetch',
    body: { groups, requireStable: false },
    deadline,
    options: {},
  })
}
