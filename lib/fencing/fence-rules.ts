import { type FenceChanges, type FenceRecord, formatVersion } from './fence-record.ts'
import type { FenceCreate, FenceUpdate } from './fence-store.ts'

/**
 * Who may try (pure). These rules decide over a record that was read; the store's conditional write makes the decision
 * true or refuses it.
 */

/** An older deployment's container stands down this long after the newer one took over; later it is a rollback (R14). */
export const rollbackAfterMs = 15 * 60_000

export interface AcquireRequest {
  readonly id: string
  /** New at each acquire. */
  readonly nonce: string
  /** Taken only when the record is made. */
  readonly lineage: string
  readonly container: string
  readonly requestId: string
  /** null: an operator's tool, which has no opinion. */
  readonly generation: number | null
  readonly nowMs: number
  readonly leaseMs: number
  /** The function timeout: no lease needs to be longer. */
  readonly leaseMaxMs: number
  /** Whether an expired lease may be taken from its owner: only with time left for a barrier, one window and the reserve (R14). */
  readonly mayPreempt: boolean
  /** Step 0 found a committed offset for every partition: only then may acquiring mark the record dirty (R8, S1). */
  readonly offsetsFound: boolean
  /** The last hold of this lane in this container: its invocation is over. */
  readonly held: HeldFence | null
  /** An operator may open a stopped lane (R16); everybody else is refused (R12). */
  readonly acceptStopped: boolean
}

/** What a finished hold leaves in its container, however it ended. */
export interface HeldFence {
  readonly token: number
  readonly nonce: string
  /** As last known: the next acquire tries on it without reading first. */
  readonly record: FenceRecord
}

export type AcquireDecision =
  | { readonly kind: 'create'; readonly write: FenceCreate }
  /** `continue`: token ours, free, our last nonce: session and position are still good (R7). */
  | { readonly kind: 'take' | 'continue'; readonly write: FenceUpdate; readonly rollback: boolean }
  | { readonly kind: 'stopped' | 'older-generation' | 'leased'; readonly record: FenceRecord }

/** Step 1. In this order: a stopped lane, an older deployment, another owner's lease. */
export function decideAcquire(found: FenceRecord | null, request: AcquireRequest): AcquireDecision {
  if (found === null) {
    return { kind: 'create', write: { kind: 'create', record: newRecord(request), writer: request.nonce } }
  }
  if (found.stopped !== null && !request.acceptStopped) return { kind: 'stopped', record: found }
  if (standsDownToNewer(found, request)) return { kind: 'older-generation', record: found }
  if (found.owner !== null && !isLeftover(found, request) && !mayTakeFromOwner(found, request))
    return { kind: 'leased', record: found }
  const kind = continues(found, request) ? 'continue' : 'take'
  return { kind, write: takeWrite(found, request, kind), rollback: isOlder(found, request) }
}

function continues(found: FenceRecord, { held }: AcquireRequest): boolean {
  return held !== null && found.owner === null && found.token === held.token && found.lastNonce === held.nonce
}

/** Our own release never arrived; the invocation that held it is over all the same. */
function isLeftover(found: FenceRecord, { held }: AcquireRequest): boolean {
  return held !== null && found.owner?.nonce === held.nonce
}

function mayTakeFromOwner(found: FenceRecord, request: AcquireRequest): boolean {
  return isExpired(found, request.nowMs) && request.mayPreempt
}

export const isExpired = (record: FenceRecord, nowMs: number): boolean => nowMs >= record.leaseUntilMs

function isOlder(found: FenceRecord, { generation }: AcquireRequest): boolean {
  return generation !== null && generation < found.generation
}

function standsDownToNewer(found: FenceRecord, request: AcquireRequest): boolean {
  if (isWithdrawn(found, request)) return true
  return isOlder(found, request) && request.nowMs < found.generationAtMs + rollbackAfterMs
}

/** Without an end: the functions of a bad deployment may be rung for as long as somebody keeps them. */
function isWithdrawn(found: FenceRecord, { generation }: AcquireRequest): boolean {
  if (generation === null) return false
  return withdrawals(found).some(([above, upTo]) => generation > above && generation <= upTo)
}

/** Every withdrawal that counts, the last one at the end: generations above the first number, up to the second. */
export function withdrawals({ withdrawn, withdrawnBefore }: FenceRecord): readonly (readonly [number, number])[] {
  return [...(withdrawnBefore ?? []), ...(withdrawn ? [[withdrawn.above, withdrawn.upTo] as const] : [])]
}

function newRecord(request: AcquireRequest): FenceRecord {
  return {
    id: request.id,
    formatVersion,
    revision: 1,
    lineage: request.lineage,
    token: 1,
    owner: ownerOf(request),
    lastNonce: null,
    leaseUntilMs: request.nowMs + leaseMsFor(0, request),
    dirty: request.offsetsFound,
    working: true,
    attempts: 0,
    resetTo: null,
    intent: null,
    committedUntil: new Map(),
    committedAtMs: null,
    sourceTopicId: null,
    clusterId: null,
    outputPartitions: new Map(),
    producerId: null,
    producerEpoch: null,
    snapshot: null,
    stopped: null,
    wakeAtMs: null,
    generation: request.generation ?? 0,
    generationAtMs: request.nowMs,
    withdrawn: null,
    withdrawnBefore: null,
  }
}

function takeWrite(found: FenceRecord, request: AcquireRequest, kind: 'take' | 'continue'): FenceUpdate {
  const deaths = countDeath(found, request)
  return {
    kind: 'update',
    id: found.id,
    expected: { token: found.token, nonce: found.owner?.nonce ?? null },
    revision: found.revision + 1,
    writer: request.nonce,
    changes: {
      token: kind === 'continue' ? found.token : found.token + 1,
      owner: ownerOf(request),
      leaseUntilMs: request.nowMs + leaseMsFor(deaths.attempts, request),
      dirty: found.dirty || request.offsetsFound,
      working: true,
      ...deaths,
      ...generationNow(found, request),
    },
  }
}

const ownerOf = ({ nonce, container, requestId }: AcquireRequest) => ({ nonce, container, requestId })

/** Each death doubles the lease, so that a transform that outlasts one lease is not taken for dead again and again (S5). */
export function leaseMsFor(attempts: number, { leaseMs, leaseMaxMs }: { leaseMs: number; leaseMaxMs: number }): number {
  return Math.min(leaseMs * 2 ** attempts, Math.max(leaseMs, leaseMaxMs))
}

/**
 * `working` found set means a death, unless the leftover is our own: then we are the proof that the process lived.
 * Counting moves the stage back to `read`, so that a death while opening is not blamed on the record (P8).
 */
function countDeath(found: FenceRecord, request: AcquireRequest): Pick<FenceRecord, 'attempts' | 'intent'> {
  const died = found.working && !isLeftover(found, request)
  const diedAlone = died && found.intent?.recordsMax === 1 && found.intent.stage === 'transform'
  return {
    attempts: found.attempts + (died ? 1 : 0),
    intent: found.intent && {
      ...found.intent,
      stage: 'read',
      deathsAlone: found.intent.deathsAlone + (diedAlone ? 1 : 0),
    },
  }
}

/** `generationAt` is when a generation arrived, not when it was last seen. */
function generationNow(found: FenceRecord, { generation, nowMs }: AcquireRequest): FenceChanges {
  const changes = generation !== null && generation !== found.generation
  return changes ? { generation, generationAtMs: nowMs } : {}
}
