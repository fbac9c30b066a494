import { codes } from './codes.ts'
import {
  type DecisionContext,
  epochMax,
  type Identity,
  isExhausted,
  isPreparing,
  type Transaction,
  type TransactionProtocol,
} from './transaction-state.ts'

/** Who may begin with a transactional id. Source: Kafka 4.1 `TransactionCoordinator.prepareInitProducerIdTransit`; KIP-360. */

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
  context: DecisionContext,
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
  { nowMs }: Pick<DecisionContext, 'nowMs'>,
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

function mayContinue(current: Transaction, expected: Identity): boolean {
  if (expected.producerId === -1n || current.producerEpoch === -1) return true
  if (expected.producerId === current.producerId) return true
  return expected.producerId === current.previousProducerId && isExhausted(expected.producerEpoch)
}

function decideBump(current: Transaction, ask: InitAsk, { nowMs }: DecisionContext): InitDecision {
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

function rotated(current: Transaction, ask: InitAsk, { nowMs, newProducerId }: DecisionContext): Transaction {
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

function unborn({ transactionalId, timeoutMs }: InitAsk, { nowMs, newProducerId }: DecisionContext): Transaction {
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
