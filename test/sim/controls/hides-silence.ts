import type { Cluster } from '../../../lib/kafka/cluster.ts'
import type { Api } from '../../../lib/kafka/protocol/generated/index.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import type { Sabotage } from '../world.ts'
import { intercepted } from './intercept.ts'

const ofTransactions: readonly Api[] = ['AddPartitionsToTxn', 'AddOffsetsToTxn', 'Produce', 'TxnOffsetCommit', 'EndTxn']
const againMax = 5

/** Counts a request as answered as soon as one of its copies is: the others may still arrive, in the next transaction. */
export const hidesSilence = {
  cluster: (cluster: Cluster) =>
    intercepted(cluster, async (call, send) => {
      for (let again = 0; ; again++) {
        try {
          return await send(call)
        } catch (error) {
          const isSilent = error instanceof TransportError && error.sent && ofTransactions.includes(call.api)
          if (!isSilent || again === againMax || call.deadline.remainingMs() <= 0) throw error
          cluster.forget(call.target)
          await cluster.clock.sleep(1)
        }
      }
    }),
} satisfies Sabotage
