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

export interface DecisionContext {
  readonly nowMs: number
  readonly newProducerId: () => bigint
}

export const noIdentity: Identity = { producerId: -1n, producerEpoch: -1 }
export const epochMax = 32767

/** 32767 is kept for fencing: a producer never gets it. */
export const isExhausted = (producerEpoch: number): boolean => producerEpoch >= epochMax - 1

export const isPreparing = ({ state }: Transaction): boolean => state === 'PrepareCommit' || state === 'PrepareAbort'

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

function checkIdentity(current: Transaction | undefined, { producerId, producerEpoch }: Identity): number {
  if (current === undefined || current.producerId !== producerId) return codes.INVALID_PRODUCER_ID_MAPPING
  if (current.producerEpoch !== producerEpoch) return codes.PRODUCER_FENCED
  return isPreparing(current) ? codes.CONCURRENT_TRANSACTIONS : codes.NONE
}
