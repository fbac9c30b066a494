import type { FenceStore, FenceWrite } from '../../lib/fencing/fence-store.ts'

/** Passes everything on and keeps count: what a fence costs is part of its promise. */
export interface CountingFenceStore extends FenceStore {
  readonly reads: number
  readonly writes: readonly FenceWrite[]
}

export function countingFenceStore(store: FenceStore): CountingFenceStore {
  let reads = 0
  const writes: FenceWrite[] = []
  return {
    ...store,
    read(id, deadline) {
      reads += 1
      return store.read(id, deadline)
    },
    write(write, deadline) {
      writes.push(write)
      return store.write(write, deadline)
    },
    get reads() {
      return reads
    },
    writes,
  }
}
