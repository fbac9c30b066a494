import { coordinatorPartition } from '../../../lib/testing/broker-model/topics.ts'
import type { Sabotage, World } from '../world.ts'
import { type Call, intercepted, isCall } from './intercept.ts'

/** A transactional id of its own for each session: no barrier ends another's transaction, nobody is fenced. */
export const randomId: Sabotage = {
  cluster(cluster, world) {
    const aliases = new Map<string, string>()
    return intercepted(cluster, (call, send) => {
      if (isCall(call, 'InitProducerId') && call.body.transactionalId !== null) {
        aliases.set(call.body.transactionalId, aliasOf(world, call.body.transactionalId))
      }
      return send(renamed(call, aliases))
    })
  },
}

/** One that the same broker coordinates, so that the engine finds it where it looks. */
function aliasOf({ model, dice }: World, id: string): string {
  const count = model.config.coordinatorPartitions
  for (;;) {
    const alias = `${id}-${dice.random.id().slice(0, 8)}`
    if (coordinatorPartition(alias, count) === coordinatorPartition(id, count)) return alias
  }
}

function renamed(call: Call, aliases: ReadonlyMap<string, string>): Call {
  const fields = ['transactionalId', 'v3AndBelowTransactionalId'] as const
  const body: Record<string, unknown> = { ...call.body }
  for (const field of fields) {
    const alias = aliases.get(String(body[field]))
    if (alias !== undefined) body[field] = alias
  }
  return { ...call, body: body as unknown as Call['body'] }
}
