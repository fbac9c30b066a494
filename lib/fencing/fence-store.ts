import type { Deadline } from '../clock.ts'
import type { RelayError } from '../errors.ts'
import type { FenceChanges, FenceRecord } from './fence-record.ts'

/**
 * Where fence records live.
 *
 * Guarantees: writes of one key are linearizable and each is judged against the newest record; `read` is strongly
 * consistent, it sees every write that was acknowledged before it was called; a refused write changes nothing.
 *
 * Errors of all methods: FENCE_STORE_UNAVAILABLE and FENCE_STORE_THROTTLED, whose outcome for a write is `unknown` as
 * soon as any transmission may have arrived; FENCE_TABLE_MISSING; FENCE_RECORD_INVALID; FORMAT_TOO_NEW.
 */
export interface FenceStore {
  /** null: no record has this id. */
  read(id: string, deadline: Deadline): Promise<FenceRecord | null>
  /**
   * Applies the write as `applyWrite` says; a losing writer learns the record that won (R7). A write that was applied
   * is answered `written` however often it was sent, unless another one has come after it (P14).
   */
  write(write: FenceWrite, deadline: Deadline): Promise<FenceWriteResult>
  /**
   * Remembers a text under an id of its own, for ever, unless one stands there already; answers the one that stands. Of
   * all who ask, at whatever time, everybody gets the same answer. Such ids are no records: `read` and `list` never meet
   * them as long as they do not begin with a prefix.
   */
  rememberFirst(id: string, text: string, deadline: Deadline): Promise<string>
  /** Every record whose id starts with `prefix`, in no order, not of one moment: for sweep and status, not for decisions. */
  list(prefix: string, deadline: Deadline): Promise<FenceListing>
  close(): void
}

export type FenceWrite = FenceCreate | FenceUpdate

/** Admitted only while no record has this id. */
export interface FenceCreate {
  readonly kind: 'create'
  readonly record: FenceRecord
  readonly writer: string
}

export interface FenceUpdate {
  readonly kind: 'update'
  readonly id: string
  /** The record must still have this token and this owner's nonce (null: no owner), and a revision below `revision`. */
  readonly expected: { readonly token: number; readonly nonce: string | null }
  readonly revision: number
  readonly changes: FenceChanges
  /** Nonce of who writes: with the revision it names this very write. */
  readonly writer: string
}

/** `record` as it stands after the write; `lost`: the record that refused it or a later one, null when there is none. */
export type FenceWriteResult =
  | { readonly kind: 'written'; readonly record: FenceRecord }
  | { readonly kind: 'lost'; readonly record: FenceRecord | null }

export interface FenceListing {
  readonly records: readonly FenceRecord[]
  /** Rows that this version cannot read: they must not hide the others. */
  readonly unreadable: readonly { readonly id: string; readonly error: RelayError }[]
}

/**
 * The record after the write, or null when the write is refused. Revisions only grow, so "below" also means "unchanged
 * since I read it" for a taker. The DynamoDB store says the same in a condition expression; one contract suite holds both.
 */
export function applyWrite(write: FenceWrite, stored: FenceRecord | null): FenceRecord | null {
  if (write.kind === 'create') return stored === null ? write.record : null
  return stored !== null && admits(write, stored) ? { ...stored, ...write.changes, revision: write.revision } : null
}

function admits({ expected, revision }: FenceUpdate, stored: FenceRecord): boolean {
  const nonce = stored.owner?.nonce ?? null
  return stored.token === expected.token && nonce === expected.nonce && stored.revision < revision
}

/**
 * What a refused write means. The client repeats a request whose answer was lost, and the repetition is refused by the
 * first copy's own success: then the record carries our nonce (as owner, or as last owner after a release) and exactly
 * this write's revision.
 */
export function judgeRefused(write: FenceWrite, stored: FenceRecord | null): FenceWriteResult {
  if (stored === null) return { kind: 'lost', record: null }
  const revision = write.kind === 'create' ? write.record.revision : write.revision
  const lastWriter = stored.owner?.nonce ?? stored.lastNonce
  const ours = stored.revision === revision && lastWriter === write.writer
  return { kind: ours ? 'written' : 'lost', record: stored }
}
