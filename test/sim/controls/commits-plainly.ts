import type { RequestOf } from '../../../lib/kafka/protocol/generated/index.ts'
import type { Sabotage } from '../world.ts'
import { type Call, intercepted, isCall, type Send } from './intercept.ts'

/** Commits as consumers do, before the transaction of the lane's id can say that this owner was followed by another one. */
export const commitsPlainly: Sabotage = {
  cluster(cluster) {
    const noted = new Map<string, RequestOf<'TxnOffsetCommit'>>()
    return intercepted(cluster, async (call, send) => {
      if (isCall(call, 'TxnOffsetCommit')) noted.set(call.body.transactionalId, call.body)
      if (!isCall(call, 'EndTxn') || !call.body.committed) return send(call)
      const offsets = noted.get(call.body.transactionalId)
      if (offsets) await commitNow(call, offsets, send)
      return send<'EndTxn'>(call)
    })
  },
}

function commitNow({ deadline }: Call, { groupId, topics }: RequestOf<'TxnOffsetCommit'>, send: Send) {
  const target = { to: 'group-coordinator', key: groupId } as const
  return send<'OffsetCommit'>({ target, api: 'OffsetCommit', body: { groupId, topics }, deadline, options: {} })
}
