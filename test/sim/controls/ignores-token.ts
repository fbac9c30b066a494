import type { FenceRecord } from '../../../lib/fencing/fence-record.ts'
import type { Sabotage } from '../world.ts'

/** Whoever has begun believes to own its lane until it lets go, whatever became of the record meanwhile. */
export const ignoresToken: Sabotage = {
  fences(store) {
    const believed = new Map<string, FenceRecord>()
    return {
      async read(id, deadline) {
        const stored = await store.read(id, deadline)
        const mine = believed.get(id)
        return mine?.owner ? mine : stored
      },
      async write(write, deadline) {
        const result = await store.write(write, deadline)
        const id = write.kind === 'create' ? write.record.id : write.id
        const mine = believed.get(id)
        if (result.kind === 'written') believed.set(id, result.record)
        if (result.kind === 'written' || write.kind === 'create' || !mine?.owner) return result
        if (mine.owner.nonce !== write.writer) return result
        const record = { ...mine, ...write.changes, revision: write.revision }
        believed.set(id, record)
        return { kind: 'written', record }
      },
      rememberFirst: (...args) => store.rememberFirst(...args),
      list: (...args) => store.list(...args),
      close: () => store.close(),
    }
  },
}
