import type { FenceRecord } from './fence-record.ts'
import { applyWrite, type FenceStore, judgeRefused } from './fence-store.ts'

/** Fence records in this process's memory, for `testRelay` and simulation: the port's guarantees without a network. */
export function createMemoryFenceStore(): FenceStore {
  const rows = new Map<string, FenceRecord>()
  const firsts = new Map<string, string>()
  return {
    read: async (id) => rows.get(id) ?? null,
    async write(write) {
      const id = write.kind === 'create' ? write.record.id : write.id
      const stored = rows.get(id) ?? null
      const record = applyWrite(write, stored)
      if (record === null) return judgeRefused(write, stored)
      rows.set(id, record)
      return { kind: 'written', record }
    },
    async rememberFirst(id, text) {
      const stands = firsts.get(id) ?? text
      firsts.set(id, stands)
      return stands
    },
    list: async (prefix) => ({
      records: [...rows.values()].filter((record) => record.id.startsWith(prefix)),
      unreadable: [],
    }),
    close() {
      rows.clear()
      firsts.clear()
    },
  }
}
