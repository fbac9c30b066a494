import type { Clock, Deadline, Random } from '../clock.ts'
import { FenceHandle } from './fence-handle.ts'
import type { FenceRecord } from './fence-record.ts'
import { type AcquireRequest, decideAcquire, type HeldFence, leaseMsFor } from './fence-rules.ts'
import type { FenceStore } from './fence-store.ts'

export { FenceHandle, type Hold } from './fence-handle.ts'
export type { HeldFence } from './fence-rules.ts'
export type { Announcement, Ending, Producer } from './owner-rules.ts'

export interface FenceRequest extends Omit<AcquireRequest, 'nonce' | 'lineage' | 'nowMs'> {
  /** Somebody else is known to have had the lane since `held`: a try on it would only be refused. Default false. */
  readonly heldIsOutdated?: boolean
}

export type AcquireResult =
  | Acquired
  /** Another owner's lease, running or expired: watch by looking and reading (R14). */
  | { readonly kind: 'leased'; readonly record: FenceRecord }
  | { readonly kind: 'stopped'; readonly record: FenceRecord }
  | {
      readonly kind: 'stand-down'
      readonly reason: 'older-generation' | 'contended'
      readonly record: FenceRecord | null
    }

export interface Acquired {
  readonly kind: 'acquired'
  readonly handle: FenceHandle
  /** The record as it was found, before this acquire changed it; null: there was none. Reconciling judges by it (R8). */
  readonly found: FenceRecord | null
  /** Token and last nonce were ours: session and position are still good, no steps 2-4 (R7). */
  readonly continued: boolean
  /** An older deployment took over from a newer one: worth an alarm (R14). */
  readonly rollback: boolean
}

/** A race lost this often means that others are making progress. */
const racesMax = 5

/**
 * Step 1: one conditional write, and one read before it unless this container was the last to hold the lane.
 *
 * Guarantee: of all who found the same record exactly one acquires; the others decide anew on the record that won.
 * Errors: the store's; no work may follow them (R7), though the lane may now be leased to nobody until the lease ends.
 */
export async function acquireFence(
  store: FenceStore,
  clock: Clock,
  random: Random,
  request: FenceRequest,
  deadline: Deadline,
): Promise<AcquireResult> {
  let asked = { ...request, nonce: random.id(), lineage: random.id() }
  const decide = (record: FenceRecord | null) => decideAcquire(record, { ...asked, nowMs: clock.now() })
  let found = await firstLook(store, request, decide, deadline)
  for (let race = 0; race < racesMax; race++) {
    const decision = decide(found)
    if (!('write' in decision)) return refusal(decision)
    const result = await store.write(decision.write, deadline)
    if (result.kind === 'written' && isTheOneFound(found, result.record)) {
      return acquired({ store, clock }, asked, decision, found, result.record)
    }
    if (result.kind === 'written') asked = { ...asked, held: holdOf(result.record, asked.nonce) }
    found = result.record
  }
  return { kind: 'stand-down', reason: 'contended', record: found }
}

/**
 * A record of a table that was made anew or restored meanwhile can have the token, and no owner, like the one that was
 * found: the condition holds, but what was decided was decided on another record. What no acquire changes tells them apart.
 * Then the lane is taken once more, from ourselves and on what is there, with a token of its own.
 */
function isTheOneFound(found: FenceRecord | null, written: FenceRecord): boolean {
  return found === null || (found.lastNonce === written.lastNonce && found.lineage === written.lineage)
}

const holdOf = (record: FenceRecord, nonce: string): HeldFence => ({ token: record.token, nonce, record })

type Decision = ReturnType<typeof decideAcquire>
type Granted = Extract<Decision, { write: unknown }>
type Refused = Exclude<Decision, Granted>

/** What this container knows is good enough for a try, since the write is conditional on it, but never for a refusal. */
async function firstLook(
  store: FenceStore,
  { id, held, heldIsOutdated = false }: FenceRequest,
  decide: (record: FenceRecord) => Decision,
  deadline: Deadline,
): Promise<FenceRecord | null> {
  return held && !heldIsOutdated && 'write' in decide(held.record) ? held.record : store.read(id, deadline)
}

function refusal({ kind, record }: Refused): AcquireResult {
  return kind === 'older-generation' ? { kind: 'stand-down', reason: kind, record } : { kind, record }
}

function acquired(
  { store, clock }: { store: FenceStore; clock: Clock },
  asked: FenceRequest & { readonly nonce: string },
  decision: Granted,
  found: FenceRecord | null,
  record: FenceRecord,
): Acquired {
  const leaseMs = leaseMsFor(record.attempts, asked)
  const dirtyBefore = found?.dirty ?? false
  return {
    kind: 'acquired',
    handle: new FenceHandle({ store, clock, record, nonce: asked.nonce, leaseMs, dirtyBefore }),
    found,
    continued: decision.kind === 'continue',
    rollback: decision.kind !== 'create' && decision.rollback,
  }
}
