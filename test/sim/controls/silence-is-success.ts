import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import type { Sabotage } from '../world.ts'
import { intercepted, invented, isCall } from './intercept.ts'

/** Goes on with the session and the next window as if the unanswered commit had been answered. */
export const silenceIsSuccess = {
  cluster: (cluster: Cluster) =>
    intercepted(cluster, async (call, send) => {
      if (!isCall(call, 'EndTxn') || !call.body.committed) return send(call)
      try {
        return await send<'EndTxn'>(call)
      } catch (error) {
        if (!(error instanceof TransportError) || !error.sent) throw error
        const { producerId, producerEpoch } = call.body
        return invented<'EndTxn'>(call, {
          throttleTimeMs: 0,
          errorCode: 0,
          producerId,
          producerEpoch: producerEpoch + 1,
        })
      }
    }),
} satisfies Sabotage
