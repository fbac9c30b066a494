import { invariant } from '../invariant.ts'
import type { FenceChanges, FenceIntent, FenceRecord } from './fence-record.ts'

/** What the owner of a lane writes, and what no owner may write (pure). */

/** A window as its owner announces it. */
export type Announcement = Pick<FenceIntent, 'partition' | 'from' | 'recordsMax' | 'stage'>

/**
 * Step 5. A window at the same place keeps how often its record died there alone. A window at another place means that
 * the position moved in this invocation: a death from now on is the first one there, not one more of the old place, so
 * that kills with commits between them do not shrink windows for ever (S5).
 */
export function announce(
  { intent: last }: FenceRecord,
  window: Announcement,
  attempts: number,
  nowMs: number,
): FenceChanges {
  const moved = last !== null && (last.partition !== window.partition || last.from !== window.from)
  const aloneAgain = last?.recordsMax === 1 && window.recordsMax === 1 && !moved
  return {
    attempts: moved ? Math.min(attempts, 1) : attempts,
    intent: { ...window, deathsAlone: aloneAgain ? last.deathsAlone : 0, startedAtMs: nowMs },
  }
}

/** How an invocation's hold of the lane ended. It cannot say "clean" without the position. */
export type Ending =
  /** Reconciled, every transaction's outcome known: `committedUntil` is what Kafka has. */
  | {
      readonly kind: 'settled'
      readonly committedUntil: ReadonlyMap<number, bigint>
      /** Of this hold's last commit; null: it committed nothing. */
      readonly committedAtMs: number | null
      readonly producer: Producer | null
    }
  /** Some transaction's outcome is not known: frees the lease and no more. */
  | { readonly kind: 'unknown' }
  /** Ended before reconciling: no window was tried, the record is as dirty as it was found. */
  | { readonly kind: 'unopened' }

export interface Producer {
  readonly id: bigint
  readonly epoch: number
}

/** Step 12. `dirtyBefore`: whether the record was dirty apart from our own acquire. */
export function endingChanges(record: FenceRecord, ending: Ending, dirtyBefore: boolean): FenceChanges {
  invariant(record.owner !== null, 'only the owner of a lane can end its work', { id: record.id })
  const intent = record.intent && { ...record.intent, stage: 'read' as const }
  const freed = { owner: null, lastNonce: record.owner.nonce, leaseUntilMs: 0, working: false, intent }
  if (ending.kind === 'unknown') return freed
  if (ending.kind === 'unopened') return { ...freed, dirty: dirtyBefore }
  const { committedUntil, committedAtMs, producer } = ending
  return {
    ...freed,
    dirty: false,
    committedUntil,
    ...(committedAtMs !== null && { committedAtMs }),
    ...(producer && { producerId: producer.id, producerEpoch: producer.epoch }),
    ...(hasMoved(record, committedUntil) && { attempts: 0, intent: null }),
  }
}

/** Past the window that was announced last; without one, past F. */
function hasMoved({ intent, committedUntil: before }: FenceRecord, now: ReadonlyMap<number, bigint>): boolean {
  if (intent) return now.get(intent.partition) !== intent.from
  return [...now].some(([partition, offset]) => offset !== before.get(partition))
}

/**
 * What no write of an owner may do, whoever asks: lower the token; lower or forget F under one token, a reset aside (it
 * leaves out partitions that are gone); change the lineage that offsets were committed under.
 */
export function checkChanges(record: FenceRecord, changes: FenceChanges): void {
  const token = changes.token ?? record.token
  invariant(token >= record.token, 'a fence token must never decrease', {
    id: record.id,
    from: record.token,
    to: token,
  })
  if (token > record.token) return
  const relabels = changes.lineage !== undefined && changes.lineage !== record.lineage
  invariant(!relabels || record.committedUntil.size === 0, 'a lineage with committed offsets must not change', {
    id: record.id,
  })
  for (const [partition, before] of changes.committedUntil ? record.committedUntil : []) {
    const after = changes.committedUntil?.get(partition)
    const wasReset = record.resetTo !== null && after === record.resetTo.get(partition)
    const allowed = wasReset || (after !== undefined && after >= before)
    invariant(allowed, 'the remembered position must never decrease under one token', {
      id: record.id,
      partition,
      from: before.toString(),
      to: after?.toString() ?? 'nothing',
    })
  }
}
