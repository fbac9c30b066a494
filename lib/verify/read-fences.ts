import type { FenceRecord } from '../fencing/fence-record.ts'
import { tpKey } from '../kafka/record.ts'
import type { LaneState } from './history.ts'
import type { VerifyOptions } from './options.ts'
import type { Offsets } from './positions.ts'
import type { KnownTransaction } from './read-transactions.ts'
import { askDeadline, laneAt, type Scope } from './scope.ts'

/** By transactional id; null where there is none. */
export type FenceRecords = ReadonlyMap<string, FenceRecord | null> | 'not read'

export async function fenceRecords({ fences, cluster }: VerifyOptions, { lanes }: Scope): Promise<FenceRecords> {
  if (!fences) return 'not read'
  const deadline = askDeadline(cluster.clock)
  return new Map(
    await Promise.all(
      lanes.map(
        async ({ transactionalId: id }): Promise<[string, FenceRecord | null]> => [id, await fences.read(id, deadline)],
      ),
    ),
  )
}

/** Committed positions as clean records remember them, by `tpKey`. */
export function rememberedPositions({ lanes }: Scope, fences: FenceRecords): Offsets {
  if (fences === 'not read') return new Map()
  return new Map(
    lanes.flatMap(({ topic, transactionalId }) => {
      const record = fences.get(transactionalId)
      const positions = record && !record.dirty ? [...record.committedUntil] : []
      return positions.map(([partition, offset]): [string, bigint] => [tpKey({ topic, partition }), offset])
    }),
  )
}

export function laneStates(
  { lanes }: Scope,
  transactions: readonly KnownTransaction[],
  fences: FenceRecords,
): readonly LaneState[] {
  return lanes.map(({ transactionalId }) => ({
    transactionalId,
    producerId: transactions.find((known) => known.transactionalId === transactionalId)?.producerId ?? null,
    fence: fences === 'not read' ? fences : (fences.get(transactionalId) ?? null),
  }))
}

/** Partitions per output topic as each source partition's lane has pinned them, and as they are now where it has not. */
export function pinnedCounts(scope: Scope, fences: FenceRecords): readonly ReadonlyMap<string, number>[] {
  return scope.sources.map((place) => {
    const record = fences === 'not read' ? null : fences.get(laneAt(scope, place)?.transactionalId ?? '')
    return new Map([...scope.partitionCounts, ...(record?.outputPartitions ?? [])])
  })
}
