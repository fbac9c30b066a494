import type { Deadline } from '../clock.ts'
import type { TopicPartition } from '../kafka/record.ts'

/** `<prefix>.<relay>.<topic>.<lane>` and the commit group of the relay, with the broker's time limit for one transaction. */
export interface SessionConfig {
  readonly transactionalId: string
  readonly group: string
  /** Above the full function timeout, at most the broker's `transaction.max.timeout.ms` (R10). */
  readonly transactionTimeoutMs: number
  /** How long one transmission may stay unanswered before the identical bytes are sent again. Default 5 s. */
  readonly attemptTimeoutMs?: number
  /** Awaited before the barrier is tried again: rejects when somebody else has the id by now, whom another try would fence. */
  readonly mayTryAgain?: () => Promise<void>
}

/** A batch whose records are encoded once; producer id, epoch and sequence are stamped at each `build`. */
export interface BuildableBatch {
  readonly count: number
  build(stamp: BatchStamp): Buffer
}

export interface BatchStamp {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly transactional: boolean
}

/** All that one window writes to one output partition, in order. */
export interface PartitionBatches extends TopicPartition {
  readonly batches: readonly BuildableBatch[]
}

export interface OffsetToCommit extends TopicPartition {
  /** The next offset to read. */
  readonly offset: bigint
  readonly leaderEpoch: number
  readonly metadata: string
}

/** What the group coordinator answered for one partition; `offset` null: nothing committed. */
export interface CommittedOffset extends TopicPartition {
  readonly offset: bigint | null
  readonly metadata: string
}

export type SessionState =
  | 'ready'
  | 'open'
  | 'committing'
  | 'aborting'
  | 'closing'
  | 'poisoned'
  | 'fenced'
  | 'unknown'
  | 'closed'

/**
 * One use of a transactional id, from InitProducerId (the barrier) until it is poisoned or closed.
 *
 * Order is kept by construction: a session exists only after the barrier (R1), `readCommitted` belongs to it, and the
 * first `sendOffsets` asks the broker that acknowledged it whether it saw the same committed offsets (step 9).
 * Whatever is not a clear yes makes the session unable to commit (R2).
 */
export interface TransactionSession {
  readonly transactionalId: string
  readonly group: string
  readonly producerId: bigint
  readonly producerEpoch: number
  /** 2: transaction.version 2 (KIP-890), the epoch grows with every transaction. 1: the older protocol. */
  readonly protocol: 1 | 2
  readonly state: SessionState
  /** Whether the next window may use this session without a new barrier (R5). */
  readonly reusable: boolean
  /** Its InitProducerId was sent more than once: a copy that arrives late fences this session, and nobody else has done it. */
  readonly mayFenceItself: boolean

  /**
   * Step 3: OffsetFetch with require_stable, retried while unstable; when 88 outlasts the barrier, joins the group in a
   * transaction, aborts it and reads once more (P3). Remembers the answer for step 9.
   * @throws RelayError SOURCE_BLOCKED-like BROKER_ERROR when it stays unstable, BROKER_UNAVAILABLE, NOT_AUTHORIZED
   */
  readCommitted(partitions: readonly TopicPartition[], deadline: Deadline): Promise<readonly CommittedOffset[]>
  /**
   * The question of step 9 asked in a transaction of its own that is aborted: what does the broker that acknowledges
   * TxnOffsetCommit say is committed? Needed before an OFFSET stop is believed (R8).
   */
  confirmCommitted(partitions: readonly TopicPartition[], deadline: Deadline): Promise<readonly CommittedOffset[]>
  /** Opens a transaction. `joins`: every output partition that it will write; explicit joins are sent here when they are needed. */
  begin(joins: readonly TopicPartition[], deadline: Deadline): Promise<void>
  /** Step 8, first half: to all leaders in parallel; at most one batch per partition and request. */
  send(outputs: readonly PartitionBatches[], deadline: Deadline): Promise<void>
  /** Step 8, second half, and step 9 in the first transaction of the session. @throws RelayError OFFSETS_DISAGREE */
  sendOffsets(offsets: readonly OffsetToCommit[], deadline: Deadline): Promise<void>
  /**
   * Step 10. Resolves only when committed. Refused without offsets in this transaction, and while a send is not answered.
   * @throws RelayError COMMIT_UNKNOWN (unknown), SESSION_FENCED / SESSION_POISONED (not-applied), OFFSETS_LOST (applied;
   *   older protocol only: docs/adr/pending-offsets-on-kafka-3.md)
   */
  commit(deadline: Deadline): Promise<void>
  /** R11: sends EndTxn(abort) only if every transmission was answered and nothing was fenced; never throws for the broker's sake. */
  abort(deadline: Deadline): Promise<void>
}
