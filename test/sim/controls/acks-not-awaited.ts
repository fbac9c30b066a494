import type { Cluster } from '../../../lib/kafka/cluster.ts'
import type { ResponseOf } from '../../../lib/kafka/protocol/generated/index.ts'
import type { Sabotage } from '../world.ts'
import { type Call, intercepted, invented, isCall } from './intercept.ts'

/** At least once: takes outputs for written as soon as they are sent, so that the offsets move before anybody has them. */
export const acksNotAwaited = {
  cluster: (cluster: Cluster) =>
    intercepted(cluster, async (call, send) => {
      if (!isCall(call, 'Produce') || call.body.transactionalId !== null) return send(call)
      send<'Produce'>(call).catch(() => undefined)
      return invented<'Produce'>(call, acknowledged(call))
    }),
} satisfies Sabotage

function acknowledged({ body }: Call<'Produce'>): ResponseOf<'Produce'> {
  const partition = {
    errorCode: 0,
    baseOffset: 0n,
    logAppendTimeMs: -1n,
    logStartOffset: 0n,
    recordErrors: [],
    errorMessage: null,
    currentLeader: { leaderId: -1, leaderEpoch: -1 },
  }
  const responses = body.topicData.map(({ name = '', partitionData }) => ({
    name,
    partitionResponses: partitionData.map(({ index }) => ({ ...partition, index })),
  }))
  return { responses, throttleTimeMs: 0, nodeEndpoints: [] }
}
