import { codes } from './codes.ts'
import {
  completed,
  type DecisionContext,
  epochMax,
  type Identity,
  isExhausted,
  noIdentity,
  type Transaction,
  type TransactionStateName,
} from './transaction-state.ts'

/** How a transaction ends, by both generations of EndTxn. Source: Kafka 4.1 `TransactionCoordinator.endTransaction`; KIP-890. */

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
  { nowMs }: DecisionContext,
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
  context: DecisionContext,
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

const prepare = (commit: boolean): TransactionStateName => (commit ? 'PrepareCommit' : 'PrepareAbort')
const complete = (commit: boolean): TransactionStateName => (commit ? 'CompleteCommit' : 'CompleteAbort')

/** Bumps the epoch, or moves to a new producer id when the epochs of this one are used up. */
function decidePrepare(current: Transaction, commit: boolean, { nowMs, newProducerId }: DecisionContext): EndDecision {
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
