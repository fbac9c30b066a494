import { type TopicPartition, tpKey } from '../../kafka/record.ts'
import { codes } from './codes.ts'

/**
 * The rules of the transaction coordinator, as decisions without effects.
 *
 * Source: Kafka 4.1 `TransactionCoordinator.scala` and `TransactionMetadata`; KIP-98, KIP-360, KIP-890. Appends to the
 * transaction log succeed at once here, so that no transition is ever pending.
 */

export type TransactionStateName =
  | 'Empty'
  | 'Ongoing'
  | 'PrepareCommit'
  | 'PrepareAbort'
  | 'CompleteCommit'
  | 'CompleteAbort'

export interface Transaction {
  readonly transactionalId: string
  readonly state: TransactionStateName
  readonly producerId: bigint
  readonly producerEpoch: number
  /** The epoch before the last bump, for a resent InitProducerId; -1 when the last one came without an epoch. */
  readonly lastProducerEpoch: number
  /** The producer id before the last rotation. */
  readonly previousProducerId: bigint
  /** What the producer goes on with once an exhausted transaction is complete; -1n unless one is completing. */
  readonly nextProducerId: bigint
  readonly timeoutMs: number
  readonly partitions: ReadonlyMap<string, TopicPartition>
  readonly startedAtMs: number
  readonly updatedAtMs: number
}

/** 2: the epoch grows with every transaction (KIP-890). 1: only InitProducerId changes it. */
export type TransactionProtocol = 1 | 2

export interface Identity {
  readonly producerId: bigint
  readonly producerEpoch: number
}

interface Context {
  readonly nowMs: number
  readonly newProducerId: () => bigint
}

export const noIdentity: Identity = { producerId: -1n, producerEpoch: -1 }
const epochMax = 32767

/** 32767 is kept for fencing: a producer never gets it. */
const isExhausted = (producerEpoch: number): boolean => producerEpoch >= epochMax - 1

const isPreparing = ({ state }: Transaction): boolean => state === 'PrepareCommit' || state === 'PrepareAbort'

export interface InitAsk {
  readonly transactionalId: string
  readonly timeoutMs: number
  /** -1n and -1 when the producer begins anew (KIP-360). */
  readonly expected: Identity
}

export type InitDecision =
  | { readonly kind: 'refused'; readonly code: number }
  | { readonly kind: 'started'; readonly next: Transaction }
  /** The open transaction is aborted first; the producer is told 51 and asks again. */
  | { readonly kind: 'fenced'; readonly next: Transaction }

export function decideInit(
  found: Transaction | undefined,
  ask: InitAsk,
  protocol: TransactionProtocol,
  context: Context,
): InitDecision {
  const current = found ?? unborn(ask, context)
  if (!mayContinue(current, ask.expected)) return { kind: 'refused', code: codes.PRODUCER_FENCED }
  if (isPreparing(current)) return { kind: 'refused', code: codes.CONCURRENT_TRANSACTIONS }
  if (current.state === 'Ongoing') return decideFence(current, protocol, context)
  const wantsCurrent = ask.expected.producerEpoch === -1 || ask.expected.producerEpoch === current.producerEpoch
  if (isExhausted(current.producerEpoch) && wantsCurrent) {
    return { kind: 'started', next: rotated(current, ask, context) }
  }
  return decideBump(current, ask, context)
}

/** Aborts an open transaction over its producer's head: a successor came, or its time is up. */
export function decideFence(
  current: Transaction,
  protocol: TransactionProtocol,
  { nowMs }: Pick<Context, 'nowMs'>,
): InitDecision {
  // Kafka throws here, which wedges the id (P4, KAFKA-20090)
  if (current.producerEpoch === epochMax) return { kind: 'refused', code: codes.UNKNOWN_SERVER_ERROR }
  const lastProducerEpoch = protocol === 2 ? current.producerEpoch : -1
  const producerEpoch = current.producerEpoch + 1
  return {
    kind: 'fenced',
    next: { ...current, state: 'PrepareAbort', producerEpoch, lastProducerEpoch, updatedAtMs: nowMs },
  }
}

export type AddDecision =
  | { readonly kind: 'answered'; readonly code: number }
  | { readonly kind: 'added'; readonly next: Transaction }

/** AddPartitionsToTxn, AddOffsetsToTxn, and what a version 2 Produce or TxnOffsetCommit adds by itself. */
export function decideAdd(
  current: Transaction | undefined,
  identity: Identity,
  partitions: readonly TopicPartition[],
  nowMs: number,
): AddDecision {
  const code = checkIdentity(current, identity)
  if (current === undefined || code !== codes.NONE) return { kind: 'answered', code }
  const isOngoing = current.state === 'Ongoing'
  if (isOngoing && partitions.every((tp) => current.partitions.has(tpKey(tp)))) return { kind: 'answered', code }
  const added = partitions.map((tp) => [tpKey(tp), tp] as const)
  const known = isOngoing ? current.partitions : []
  const startedAtMs = isOngoing ? current.startedAtMs : nowMs
  const next: Transaction = {
    ...current,
    state: 'Ongoing',
    partitions: new Map([...known, ...added]),
    startedAtMs,
    updatedAtMs: nowMs,
  }
  return { kind: 'added', next }
}

/** Whether a partition is part of the open transaction: asked by brokers before a transaction's first append (KIP-890). */
export function verify(current: Transaction | undefined, identity: Identity, partition: TopicPartition): number {
  const code = checkIdentity(current, identity)
  if (code !== codes.NONE) return code
  return current?.partitions.has(tpKey(partition)) ? codes.NONE : codes.TRANSACTION_ABORTABLE
}

export type EndDecision =
  | { readonly kind: 'answered'; readonly code: number; readonly identity: Identity }
  /** Logged, so decided; markers follow. `identity` is what the producer goes on with. */
  | { readonly kind: 'prepared'; readonly next: Transaction; readonly identity: Identity }

const answered = (code: number, identity = noIdentity): EndDecision => ({ kind: 'answered', code, identity })

/** EndTxn of the older protocol: a repeated answer looks like a new one, and is given (P3, P6). */
export function decideEnd1(
  current: Transaction | undefined,
  identity: Identity,
  commit: boolean,
  { nowMs }: Context,
): EndDecision {
  if (current === undefined || current.producerId !== identity.producerId) {
    return answered(codes.INVALID_PRODUCER_ID_MAPPING)
  }
  if (current.producerEpoch !== identity.producerEpoch) return answered(codes.PRODUCER_FENCED)
  switch (current.state) {
    case 'Ongoing':
      return {
        kind: 'prepared',
        next: { ...current, state: prepare(commit), updatedAtMs: nowMs },
        identity: noIdentity,
      }
    case 'CompleteCommit':
    case 'CompleteAbort':
      return answered(current.state === complete(commit) ? codes.NONE : codes.INVALID_TXN_STATE)
    case 'PrepareCommit':
    case 'PrepareAbort':
      return answered(current.state === prepare(commit) ? codes.CONCURRENT_TRANSACTIONS : codes.INVALID_TXN_STATE)
    case 'Empty':
      return answered(codes.INVALID_TXN_STATE)
  }
}

/**
 * EndTxn 5: the epoch of the request tells a repetition (one below ours) from the end of the next transaction (ours).
 * An abort is granted with nothing open too, and bumps the epoch.
 */
export function decideEnd2(
  current: Transaction | undefined,
  identity: Identity,
  commit: boolean,
  context: Context,
): EndDecision {
  if (current === undefined) return answered(codes.INVALID_PRODUCER_ID_MAPPING)
  const isRetryOverRotation = isRotationRetry(current, identity)
  if (current.producerId !== identity.producerId && !isRetryOverRotation) {
    return answered(codes.INVALID_PRODUCER_ID_MAPPING)
  }
  const isRetry = isRetryOverRotation || current.producerEpoch === identity.producerEpoch + 1
  const isCurrent = current.producerEpoch === identity.producerEpoch
  switch (current.state) {
    case 'Empty':
      if (!isCurrent) return answered(codes.PRODUCER_FENCED)
      return commit ? answered(codes.INVALID_TXN_STATE) : decidePrepare(current, false, context)
    case 'Ongoing':
      return isCurrent ? decidePrepare(current, commit, context) : answered(codes.PRODUCER_FENCED)
    case 'PrepareCommit':
    case 'PrepareAbort':
      if (!isRetry) return answered(codes.PRODUCER_FENCED)
      return answered(current.state === prepare(commit) ? codes.CONCURRENT_TRANSACTIONS : codes.INVALID_TXN_STATE)
    case 'CompleteCommit':
    case 'CompleteAbort':
      if (isRetry) {
        return current.state === complete(commit) ? answered(codes.NONE, current) : answered(codes.INVALID_TXN_STATE)
      }
      if (!isCurrent) return answered(codes.PRODUCER_FENCED)
      return commit ? answered(codes.INVALID_TXN_STATE) : decidePrepare(current, false, context)
  }
}

/** The state once every marker is written. */
export function completed(current: Transaction, nowMs: number): Transaction {
  const rotates = current.nextProducerId !== -1n
  return {
    ...current,
    state: current.state === 'PrepareCommit' ? 'CompleteCommit' : 'CompleteAbort',
    producerId: rotates ? current.nextProducerId : current.producerId,
    producerEpoch: rotates ? 0 : current.producerEpoch,
    previousProducerId: rotates ? current.producerId : current.previousProducerId,
    nextProducerId: -1n,
    partitions: new Map(),
    updatedAtMs: nowMs,
  }
}

const prepare = (commit: boolean): TransactionStateName => (commit ? 'PrepareCommit' : 'PrepareAbort')
const complete = (commit: boolean): TransactionStateName => (commit ? 'CompleteCommit' : 'CompleteAbort')

/** Bumps the epoch, or moves to a new producer id when the epochs of this one are used up. */
function decidePrepare(current: Transaction, commit: boolean, { nowMs, newProducerId }: Context): EndDecision {
  // Kafka overflows here and answers -1 for ever (P4, KAFKA-20090)
  if (current.producerEpoch === epochMax) return answered(codes.UNKNOWN_SERVER_ERROR)
  const next: Transaction = {
    ...current,
    state: prepare(commit),
    producerEpoch: current.producerEpoch + 1,
    lastProducerEpoch: current.producerEpoch,
    nextProducerId: isExhausted(current.producerEpoch) ? newProducerId() : -1n,
    startedAtMs: current.state === 'Ongoing' ? current.startedAtMs : nowMs,
    updatedAtMs: nowMs,
  }
  const { producerId, producerEpoch } = completed(next, nowMs)
  return { kind: 'prepared', next, identity: { producerId, producerEpoch } }
}

/** The same EndTxn again after it moved the producer to another id. */
function isRotationRetry(current: Transaction, identity: Identity): boolean {
  const wasLastEpoch = identity.producerEpoch === epochMax - 1 && current.producerEpoch === 0
  return wasLastEpoch && current.previousProducerId === identity.producerId
}

function checkIdentity(current: Transaction | undefined, { producerId, producerEpoch }: Identity): number {
  if (current === undefined || current.producerId !== producerId) return codes.INVALID_PRODUCER_ID_MAPPING
  if (current.producerEpoch !== producerEpoch) return codes.PRODUCER_FENCED
  return isPreparing(current) ? codes.CONCURRENT_TRANSACTIONS : codes.NONE
}

function mayContinue(current: Transaction, expected: Identity): boolean {
  if (expected.producerId === -1n || current.producerEpoch === -1) return true
  if (expected.producerId === current.producerId) return true
  return expected.producerId === current.previousProducerId && isExhausted(expected.producerEpoch)
}

function decideBump(current: Transaction, ask: InitAsk, { nowMs }: Context): InitDecision {
  const { producerEpoch: wanted } = ask.expected
  const { producerEpoch, lastProducerEpoch } = current
  const fresh = restarted(current, ask, nowMs)
  const bumped = producerEpoch + 1
  if (wanted === -1) return { kind: 'started', next: { ...fresh, producerEpoch: bumped, lastProducerEpoch: -1 } }
  if (wanted === producerEpoch || producerEpoch === -1) {
    return { kind: 'started', next: { ...fresh, producerEpoch: bumped, lastProducerEpoch: producerEpoch } }
  }
  if (wanted === lastProducerEpoch) return { kind: 'started', next: fresh }
  return { kind: 'refused', code: codes.PRODUCER_FENCED }
}

function rotated(current: Transaction, ask: InitAsk, { nowMs, newProducerId }: Context): Transaction {
  return {
    ...restarted(current, ask, nowMs),
    producerId: newProducerId(),
    producerEpoch: 0,
    lastProducerEpoch: ask.expected.producerEpoch === -1 ? -1 : current.producerEpoch,
    previousProducerId: current.producerId,
  }
}

function restarted(current: Transaction, { timeoutMs }: InitAsk, nowMs: number): Transaction {
  return { ...current, state: 'Empty', timeoutMs, partitions: new Map(), startedAtMs: -1, updatedAtMs: nowMs }
}

function unborn({ transactionalId, timeoutMs }: InitAsk, { nowMs, newProducerId }: Context): Transaction {
  return {
    transactionalId,
    state: 'Empty',
    producerId: newProducerId(),
    producerEpoch: -1,
    lastProducerEpoch: -1,
    previousProducerId: -1n,
    nextProducerId: -1n,
    timeoutMs,
    partitions: new Map(),
    startedAtMs: -1,
    updatedAtMs: nowMs,
  }
}
