import { isRelayError, messageOf, RelayError } from '../errors.ts'
import type { TopicPartition } from '../kafka/record.ts'
import { tpKey } from '../kafka/record.ts'
import { advanceSequence, EPOCH_ABORTS_END, EPOCH_SPENT, type ProducerIdentity, successorOf } from './epoch.ts'
import { refusal } from './refusal.ts'
import type { SessionState } from './session.ts'
import { type SessionEvent, transition } from './state-machine.ts'

/** Exactly one of both is called, once, or neither when no answer came. */
export interface Transmission {
  answered(): void
  /** No byte of it can have reached a broker. */
  unsent(): void
}

/**
 * All that a session knows about itself: its state, who it is, and what it has sent. No I/O; every rule that forbids or
 * allows the next request is decided here, so that no request can leave without being counted.
 *
 * A transmission is one request that may have reached a broker; a resend is another transmission. One that is never
 * answered may arrive at any time. On transaction.version 2 each transaction has its own epoch, which makes late copies
 * harmless once it has ended; on the older protocol they stay dangerous as long as the session is used (P3, R5).
 */
export class SessionLedger {
  /** null for a producer that is only idempotent. */
  readonly transactionalId: string | null
  readonly protocol: 1 | 2
  #identity: ProducerIdentity
  #state: SessionState = 'ready'
  /** Why the session can no longer commit. */
  #reason: RelayError | null = null
  #transmissions = 0
  #unanswered = 0
  #working = 0
  #offsetsIn = false
  /** null: the brokers join partitions themselves. */
  #joined: ReadonlySet<string> | null = null
  readonly #busy = new Set<string>()
  readonly #sequences = new Map<string, number>()

  constructor(transactionalId: string | null, protocol: 1 | 2, identity: ProducerIdentity) {
    this.transactionalId = transactionalId
    this.protocol = protocol
    this.#identity = identity
  }

  /** For messages. */
  get name(): string {
    return this.transactionalId ?? `producer ${this.#identity.producerId}`
  }

  get state(): SessionState {
    return this.#state
  }

  get identity(): ProducerIdentity {
    return this.#identity
  }

  /** Transmissions of this transaction (of the whole session on the older protocol) that nobody answered so far. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** Whether anything may have reached a broker since the transaction began. */
  get hasTransmitted(): boolean {
    return this.#transmissions > 0
  }

  /** @param joins the partitions that are joined explicitly; null when the brokers join them themselves */
  begin(joins: readonly TopicPartition[] | null): void {
    this.#apply('begin')
    this.#transmissions = 0
    this.#offsetsIn = false
    this.#joined = joins && new Set(joins.map(tpKey))
  }

  /** Call right before a request leaves; from then on it counts as unanswered. */
  transmit(event: 'transmit' | 'transmit-end'): Transmission {
    this.#apply(event)
    this.#transmissions++
    this.#unanswered++
    return {
      answered: () => {
        this.#unanswered--
      },
      unsent: () => {
        this.#unanswered--
        this.#transmissions--
      },
    }
  }

  accept(): void {
    this.#apply('accept')
  }

  /** The source offsets are in the transaction, and the broker that took them agrees on where they stood (step 9). */
  offsetsIn(): void {
    this.#offsetsIn = this.#state === 'open'
  }

  /** Not a clear yes. Returns the error, to be thrown. */
  doubt(reason: RelayError): RelayError {
    return this.#fail('doubt', reason)
  }

  /** 47, 48, 49 or 90. Returns the error, to be thrown. */
  fence(reason: RelayError): RelayError {
    return this.#fail('fence', reason)
  }

  /** Everything was sent and accepted, the source offsets among it; the next request is EndTxn(commit). */
  commit(): void {
    if (this.#state === 'open' && this.#working > 0) throw this.broken('commit while requests are still being answered')
    if (this.#state === 'open' && !this.#offsetsIn) {
      throw this.broken('commit without source offsets: the window would be relayed again')
    }
    this.#apply('commit')
  }

  /** R11: whether EndTxn(abort) may be sent. If not, the transaction is left to the next barrier. */
  abort(): boolean {
    const answered = this.#unanswered === 0 && this.#working === 0
    const epochLeft = this.protocol === 1 || this.#identity.producerEpoch < EPOCH_ABORTS_END
    const may = answered && epochLeft
    this.#apply(may ? 'abort' : 'abandon')
    return may
  }

  abandon(reason: RelayError): RelayError {
    return this.#fail('abandon', reason)
  }

  /** EndTxn was answered 0. `answered` is null on the older protocol, where the epoch stays and sequences go on. */
  end(answered: ProducerIdentity | null): void {
    const next = answered === null ? this.#identity : successorOf(this.#identity, answered)
    const clean = this.protocol === 2 || this.#unanswered === 0
    const lasts = next !== null && next.producerEpoch < EPOCH_SPENT
    this.#apply(clean && lasts ? 'end' : 'retire')
    if (next !== null) this.#identity = next
    if (answered === null) return
    this.#sequences.clear()
    this.#unanswered = 0
  }

  /** Runs one step of the transaction. Commit is refused as long as any is running, and for ever when one fails. */
  async during<T>(step: () => Promise<T>): Promise<T> {
    this.#working++
    try {
      return await step()
    } catch (error) {
      if (this.#state === 'open') this.#fail('doubt', asRelayError(error))
      throw error
    } finally {
      this.#working--
    }
  }

  /**
   * Runs `step` as the only writer of these partitions. Two at once could swap on a resend, and an order once broken
   * cannot be told from a lost record.
   */
  async whileWriting<T>(partitions: readonly TopicPartition[], step: () => Promise<T>): Promise<T> {
    const keys = partitions.map(tpKey)
    for (const [index, key] of keys.entries()) {
      const owned = this.#joined === null || this.#joined.has(key)
      if (!owned) throw this.broken(`${key} is written although the transaction was begun without it`)
      if (this.#busy.has(key) || keys.indexOf(key) !== index) throw this.broken(`${key} is written twice at once`)
    }
    for (const key of keys) this.#busy.add(key)
    try {
      return await this.during(step)
    } finally {
      for (const key of keys) this.#busy.delete(key)
    }
  }

  /** The sequence of the next batch of a partition, which holds `records` records. */
  nextSequence(partition: TopicPartition, records: number): number {
    const key = tpKey(partition)
    const sequence = this.#sequences.get(key) ?? 0
    this.#sequences.set(key, advanceSequence(sequence, records))
    return sequence
  }

  /** The owner did what must never happen. Returns the error, to be thrown; the session can no longer commit. */
  broken(what: string): RelayError {
    const error = new RelayError('INVARIANT_BROKEN', `${this.name}: ${what}`, { context: this.#facts() })
    this.#reason ??= error
    this.#state = transition(this.#state, 'doubt').next
    return error
  }

  #apply(event: SessionEvent): void {
    const { allowed, next } = transition(this.#state, event)
    const before = this.#state
    this.#state = next
    if (allowed) return
    const error = refusal(this.name, before, event, this.#reason, this.#facts())
    this.#reason ??= error
    throw error
  }

  #fail(event: 'doubt' | 'fence' | 'abandon', reason: RelayError): RelayError {
    this.#reason ??= reason
    this.#apply(event)
    return reason
  }

  #facts(): Record<string, unknown> {
    const { producerId, producerEpoch } = this.#identity
    return {
      transactionalId: this.transactionalId,
      producerId: String(producerId),
      producerEpoch,
      state: this.#state,
      unanswered: this.#unanswered,
    }
  }
}

const asRelayError = (error: unknown): RelayError =>
  isRelayError(error) ? error : new RelayError('SESSION_POISONED', messageOf(error), { cause: error })
