import type { Clock, Deadline } from '../clock.ts'
import { isRelayError, RelayError } from '../errors.ts'
import { invariant } from '../invariant.ts'
import type { FenceChanges, FenceRecord, FenceStop } from './fence-record.ts'
import type { HeldFence } from './fence-rules.ts'
import type { FenceStore } from './fence-store.ts'
import { type Announcement, announce, checkChanges, type Ending, endingChanges } from './owner-rules.ts'

/** How a write went that may fail without ending the work. `silent`: the store did not answer, which proves nothing (R7). */
export type Hold = Ours | { readonly kind: 'silent'; readonly error: RelayError }
type Ours = { readonly kind: 'ours' } | { readonly kind: 'superseded' }

/** What Kafka knows of a lane and its fence record does not. */
export interface Newer {
  readonly token: number
  readonly lineage: string
  readonly committedUntil: ReadonlyMap<number, bigint>
}

export interface FenceHandleParts {
  readonly store: FenceStore
  readonly clock: Clock
  /** As the acquire left it. */
  readonly record: FenceRecord
  readonly nonce: string
  readonly leaseMs: number
  /** Whether it was dirty before this acquire. */
  readonly dirtyBefore: boolean
}

/**
 * One invocation's hold of a lane. Every write is conditional on our token and nonce; writes leave one at a time, each
 * with a higher revision than any before it, answered or not.
 *
 * Methods that return normally were acknowledged. Errors: FENCE_SUPERSEDED (another owner holds the lane; nothing was
 * written) and the store's own (FENCE_STORE_UNAVAILABLE with outcome `unknown`: it may have been written).
 */
export class FenceHandle {
  readonly nonce: string
  /** Length of the lease; longer after deaths at work. */
  readonly leaseMs: number
  readonly #store: FenceStore
  readonly #clock: Clock
  #record: FenceRecord
  /** What writes without an answer may have made of it since. Empty again with the next answer: its revision ends them. */
  #perhaps: readonly FenceRecord[] = []
  #dirtyBefore: boolean
  #revision: number
  #ended = false
  #lastTurn: Promise<unknown> = Promise.resolve()

  constructor({ store, clock, record, nonce, leaseMs, dirtyBefore }: FenceHandleParts) {
    this.nonce = nonce
    this.leaseMs = leaseMs
    this.#store = store
    this.#clock = clock
    this.#record = record
    this.#dirtyBefore = dirtyBefore
    this.#revision = record.revision
  }

  /** As last acknowledged. */
  get record(): FenceRecord {
    return this.#record
  }

  get token(): number {
    return this.#record.token
  }

  /** To be kept in the container once this hold is over. */
  get held(): HeldFence {
    return { token: this.token, nonce: this.nonce, record: this.#record }
  }

  /** Step 2's read, after every barrier: keeps out an owner that slept while another took over and finished (S2). */
  confirm(deadline: Deadline): Promise<'ours' | 'superseded'> {
    return this.#inTurn(async () => {
      const stored = await this.#store.read(this.#record.id, deadline)
      if (stored?.token !== this.token || stored.owner?.nonce !== this.nonce) return 'superseded'
      this.#record = stored
      return 'ours'
    })
  }

  /** Prolongs the lease from now. Never throws for the store's sake. */
  renew(deadline: Deadline): Promise<Hold> {
    return this.#tolerant(() => this.#write(() => this.#leaseFromNow(), deadline))
  }

  /** An acknowledged write: dirty, F, pins, snapshot pointer, reset, resume. */
  async note(changes: FenceChanges, deadline: Deadline): Promise<void> {
    await this.#acknowledged(() => changes, deadline)
    this.#dirtyBefore = changes.dirty ?? this.#dirtyBefore
  }

  /**
   * R8: the table is older than Kafka's truth. Goes on under a token above every committed one, in their lineage, and with
   * their positions for F: what the table remembers may be beyond them, where it knows nothing of a reset.
   */
  adopt({ token, lineage, committedUntil }: Newer, deadline: Deadline): Promise<void> {
    const changesOf = (record: FenceRecord) => ({
      token: Math.max(token, record.token + 1),
      lineage,
      committedUntil: new Map([...record.committedUntil, ...committedUntil]),
    })
    return this.#acknowledged(changesOf, deadline)
  }

  /** Step 5, acknowledged before the window is read; for a record alone also before each change of stage. `attempts`: as step 4 settled it. */
  intent(window: Announcement, attempts: number, deadline: Deadline): Promise<void> {
    return this.#acknowledged((record) => announce(record, window, attempts, this.#clock.now()), deadline)
  }

  /** Step 12. Never throws for the store's sake: committed windows stand, and a record left dirty or leased costs work only. */
  async release(ending: Ending, deadline: Deadline): Promise<Hold> {
    const released = await this.#tolerant(() => this.#write((record) => this.#end(record, ending), deadline))
    this.#ended = true
    return released
  }

  /** Release and stop the lane for everybody but an operator. Acknowledged: only a recorded stop may be answered with success (R12). */
  async stop(reason: Omit<FenceStop, 'atMs'>, ending: Ending, deadline: Deadline): Promise<void> {
    const stopped = { ...reason, atMs: this.#clock.now() }
    await this.#acknowledged((record) => ({ ...this.#end(record, ending), stopped }), deadline)
    this.#ended = true
  }

  #end(record: FenceRecord, ending: Ending): FenceChanges {
    return endingChanges(record, ending, this.#dirtyBefore)
  }

  #leaseFromNow(): FenceChanges {
    return { leaseUntilMs: this.#clock.now() + this.leaseMs }
  }

  async #acknowledged(changesOf: (record: FenceRecord) => FenceChanges, deadline: Deadline): Promise<void> {
    const { kind } = await this.#write(changesOf, deadline)
    if (kind === 'superseded') throw superseded(this.#record)
  }

  async #tolerant(write: () => Promise<Hold>): Promise<Hold> {
    try {
      return await write()
    } catch (error) {
      if (!isRelayError(error) || !error.code.startsWith('FENCE_')) throw error
      return { kind: 'silent', error }
    }
  }

  #write(changesOf: (record: FenceRecord) => FenceChanges, deadline: Deadline): Promise<Ours> {
    return this.#inTurn(async () => {
      const { id, token } = this.#record
      invariant(!this.#ended, 'a fence handle writes nothing after its end', { id, token })
      const changes = changesOf(this.#record)
      for (const possible of [this.#record, ...this.#perhaps]) checkChanges(possible, changes)
      this.#revision += 1
      this.#perhaps = [...this.#perhaps, { ...this.#record, ...changes }]
      const mine = { expected: { token, nonce: this.nonce }, revision: this.#revision, writer: this.nonce }
      const result = await this.#store.write({ kind: 'update', id, changes, ...mine }, deadline)
      if (result.kind === 'lost') return { kind: 'superseded' }
      this.#perhaps = []
      this.#record = result.record
      return { kind: 'ours' }
    })
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(action)
    this.#lastTurn = turn.catch(() => undefined)
    return turn
  }
}

export function superseded({ id, token }: FenceRecord): RelayError {
  return new RelayError('FENCE_SUPERSEDED', `lane ${id}: token ${token} is no longer the newest; standing down`, {
    context: { id, token },
  })
}
