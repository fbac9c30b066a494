import type { Answer, Cluster } from '../../../lib/kafka/cluster.ts'
import type { RequestOf } from '../../../lib/kafka/protocol/generated/index.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import { parseCommitMetadata } from '../../../lib/relay/commit-metadata.ts'
import type { Sabotage } from '../world.ts'
import { askedFor, isReading, withoutStepNine } from './committed-memory.ts'
import { intercepted, invented, isCall } from './intercept.ts'

const PRODUCER_FENCED = 90

/** Takes a commit without an answer for one that failed, and relays the window again from where it began. */
export const silenceIsFailure = {
  cluster(cluster: Cluster) {
    const begun = new Map<bigint, RequestOf<'TxnOffsetCommit'>>()
    const failed = new Map<string, Answer<'OffsetFetch'>>()
    const deaf = intercepted(cluster, async (call, send) => {
      if (isCall(call, 'TxnOffsetCommit')) begun.set(call.body.producerId, call.body)
      if (isCall(call, 'OffsetFetch') && isReading(call)) {
        const known = failed.get(askedFor(call))
        failed.delete(askedFor(call))
        return known ?? send<'OffsetFetch'>(call)
      }
      if (!isCall(call, 'EndTxn') || !call.body.committed) return send(call)
      try {
        return await send<'EndTxn'>(call)
      } catch (error) {
        if (!(error instanceof TransportError) || !error.sent) throw error
        const window = begun.get(call.body.producerId)
        if (window !== undefined) failed.set(partitionsOf(window), asBefore(window))
        const identity = { producerId: -1n, producerEpoch: -1 }
        return invented<'EndTxn'>(call, { throttleTimeMs: 0, errorCode: PRODUCER_FENCED, ...identity })
      }
    })
    return intercepted(deaf, withoutStepNine())
  },
} satisfies Sabotage

const partitionsOf = ({ topics }: RequestOf<'TxnOffsetCommit'>): string =>
  topics.flatMap(({ partitions }) => partitions.map(({ partitionIndex }) => partitionIndex)).join()

/** The offsets from which the window was read. */
function asBefore({ groupId, topics }: RequestOf<'TxnOffsetCommit'>): Answer<'OffsetFetch'> {
  const before = topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex, committedMetadata }) => ({
      partitionIndex,
      committedOffset: parseCommitMetadata(committedMetadata ?? '')?.from ?? 0n,
      committedLeaderEpoch: -1,
      metadata: committedMetadata,
      errorCode: 0,
    })),
  }))
  const body = { throttleTimeMs: 0, groups: [{ groupId, topics: before, errorCode: 0 }] }
  return { body, node: { nodeId: -1, host: '', port: -1 }, version: 8 }
}
