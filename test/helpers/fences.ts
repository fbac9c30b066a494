/** Plain fence requests and records, to be bent by each test where it matters. */
import type { Random } from '../../lib/clock.ts'
import { type Deadline, deadlineIn, systemClock } from '../../lib/clock.ts'
import type { FenceRequest } from '../../lib/fencing/fence.ts'
import type { FenceRecord } from '../../lib/fencing/fence-record.ts'
import { type AcquireRequest, decideAcquire } from '../../lib/fencing/fence-rules.ts'

export const soon = (): Deadline => deadlineIn(systemClock, 10_000)

export const fenceRequest = (over: Partial<FenceRequest> = {}): FenceRequest => ({
  id: 'shop.delays.flights.0',
  container: 'container-a',
  requestId: 'request-1',
  generation: 7,
  leaseMs: 5_000,
  leaseMaxMs: 60_000,
  mayPreempt: true,
  offsetsFound: true,
  held: null,
  acceptStopped: false,
  ...over,
})

export const acquireRequest = (over: Partial<AcquireRequest> = {}): AcquireRequest => ({
  ...fenceRequest(),
  nonce: 'nonce-new',
  lineage: 'lineage-1',
  nowMs: 1_000_000,
  ...over,
})

/** As an acquire by `nonce-1` of a new lane leaves it, then bent. */
export function fenceRecord(over: Partial<FenceRecord> = {}): FenceRecord {
  const decision = decideAcquire(null, acquireRequest({ nonce: 'nonce-1', offsetsFound: false }))
  if (decision.kind !== 'create') throw new Error(`a missing record was not created: ${decision.kind}`)
  return { ...decision.write.record, ...over }
}

/** The same record after a clean release. */
export const freeRecord = (over: Partial<FenceRecord> = {}): FenceRecord =>
  fenceRecord({ owner: null, lastNonce: 'nonce-1', leaseUntilMs: 0, working: false, ...over })

/** Ids in sequence: the same run gives the same nonces. */
export function numberedRandom(prefix = 'id'): Random {
  let count = 0
  return { id: () => `${prefix}-${++count}`, fraction: () => 0.5 }
}

/** Partition offsets, written shortly. */
export const offsets = (...pairs: readonly (readonly [number, bigint])[]): ReadonlyMap<number, bigint> => new Map(pairs)
