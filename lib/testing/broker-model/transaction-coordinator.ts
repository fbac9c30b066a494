import type { Clock } from '../../clock.ts'
import { type TopicPartition, tpKey } from '../../kafka/record.ts'
import type { Marker } from './batches.ts'
import { codes } from './codes.ts'
import type { BrokerConfig } from './config.ts'
import { decideEnd1, decideEnd2 } from './decide-end.ts'
import { decideFence, decideInit, type InitAsk } from './decide-init.ts'
import type { EffectScheduler } from './effects.ts'
import {
  completed,
  decideAdd,
  type Identity,
  noIdentity,
  type Transaction,
  type TransactionProtocol,
  verify,
} from './transaction-state.ts'

export interface CoordinatorPorts {
  readonly clock: Clock
  readonly config: BrokerConfig
  readonly effects: EffectScheduler
  /** What the cluster has finalized: how it aborts on its own account. */
  readonly protocol: TransactionProtocol
  newProducerId(): bigint
  coordinatorEpoch(transactionalId: string): number
  /** False while the node that coordinates the id is away: it neither writes markers nor looks at timeouts. */
  isCoordinated(transactionalId: string): boolean
  /** False while the partition has no leader: the marker waits for `retryMarkers`. */
  writeMarker(partition: TopicPartition, marker: Marker): boolean
}

export interface IdentityAnswer {
  readonly code: number
  readonly identity: Identity
}

/**
 * All transactional ids of the cluster. EndTxn is answered when the decision is logged; markers and completion follow
 * as effects, and until then the id answers 51.
 *
 * Source: Kafka `TransactionCoordinator.scala`, `TransactionMarkerChannelManager.scala`, `TransactionStateManager.scala`.
 */
export class TransactionCoordinator {
  private readonly ports: CoordinatorPorts
  private readonly transactions = new Map<string, Transaction>()
  /** Markers whose partition or coordinator had no leader. */
  private stuck: { readonly transactionalId: string; readonly partition: TopicPartition }[] = []

  constructor(ports: CoordinatorPorts) {
    this.ports = ports
  }

  all(): readonly Transaction[] {
    return [...this.transactions.values()]
  }

  find(transactionalId: string): Transaction | undefined {
    return this.transactions.get(transactionalId)
  }

  init(ask: InitAsk): IdentityAnswer {
    const { config, protocol } = this.ports
    if (ask.timeoutMs > config.transactionMaxTimeoutMs || ask.timeoutMs <= 0) {
      return { code: codes.INVALID_TRANSACTION_TIMEOUT, identity: noIdentity }
    }
    const decision = decideInit(this.find(ask.transactionalId), ask, protocol, this.context())
    if (decision.kind === 'refused') return { code: decision.code, identity: noIdentity }
    this.put(decision.next)
    if (decision.kind === 'started') return { code: codes.NONE, identity: decision.next }
    this.sendMarkers(decision.next)
    return { code: codes.CONCURRENT_TRANSACTIONS, identity: noIdentity }
  }

  add(transactionalId: string, identity: Identity, partitions: readonly TopicPartition[]): number {
    const decision = decideAdd(this.find(transactionalId), identity, partitions, this.ports.clock.now())
    if (decision.kind === 'answered') return decision.code
    this.put(decision.next)
    return codes.NONE
  }

  verify(transactionalId: string, identity: Identity, partition: TopicPartition): number {
    return verify(this.find(transactionalId), identity, partition)
  }

  end(transactionalId: string, identity: Identity, commit: boolean, protocol: TransactionProtocol): IdentityAnswer {
    const decide = protocol === 2 ? decideEnd2 : decideEnd1
    const decision = decide(this.find(transactionalId), identity, commit, this.context())
    if (decision.kind === 'answered') return decision
    this.put(decision.next)
    this.sendMarkers(decision.next)
    return { code: codes.NONE, identity: decision.identity }
  }

  /** Every `transaction.abort.timed.out.transaction.cleanup.interval.ms`. */
  abortTimedOut(): void {
    const nowMs = this.ports.clock.now()
    for (const current of this.all()) {
      if (current.state !== 'Ongoing' || current.startedAtMs + current.timeoutMs > nowMs) continue
      if (!this.ports.isCoordinated(current.transactionalId)) continue
      const decision = decideFence(current, this.ports.protocol, { nowMs })
      // a wedged id throws in Kafka's scan, and those behind it are not looked at (P4)
      if (decision.kind !== 'fenced') return
      this.put(decision.next)
      this.sendMarkers(decision.next)
    }
  }

  /** Forgets ids without an open transaction that have been idle for `transactional.id.expiration.ms`. */
  expireIds(): void {
    const beforeMs = this.ports.clock.now() - this.ports.config.transactionalIdExpirationMs
    for (const { transactionalId, state, updatedAtMs } of this.all()) {
      const isIdle = state === 'Empty' || state === 'CompleteCommit' || state === 'CompleteAbort'
      if (isIdle && updatedAtMs <= beforeMs) this.transactions.delete(transactionalId)
    }
  }

  /** A partition or coordinator has a leader again. */
  retryMarkers(): void {
    const stuck = this.stuck
    this.stuck = []
    for (const { transactionalId, partition } of stuck) this.sendMarker(transactionalId, partition)
  }

  private sendMarkers({ transactionalId, partitions }: Transaction): void {
    for (const partition of partitions.values()) this.sendMarker(transactionalId, partition)
    if (partitions.size === 0) this.sendCompletion(transactionalId)
  }

  private sendMarker(transactionalId: string, partition: TopicPartition): void {
    const run = () => this.writeMarker(transactionalId, partition)
    this.ports.effects.schedule({ kind: 'marker', transactionalId, partition }, run)
  }

  private writeMarker(transactionalId: string, partition: TopicPartition): void {
    const current = this.find(transactionalId)
    if (current === undefined) return
    const isAway = !this.ports.isCoordinated(transactionalId)
    if (isAway || !this.ports.writeMarker(partition, this.markerOf(current))) {
      this.stuck.push({ transactionalId, partition })
      return
    }
    const partitions = new Map(current.partitions)
    partitions.delete(tpKey(partition))
    this.put({ ...current, partitions })
    if (partitions.size === 0) this.sendCompletion(transactionalId)
  }

  private sendCompletion(transactionalId: string): void {
    this.ports.effects.schedule({ kind: 'complete', transactionalId }, () => {
      const current = this.find(transactionalId)
      if (current !== undefined) this.put(completed(current, this.ports.clock.now()))
    })
  }

  private markerOf({ transactionalId, producerId, producerEpoch, state }: Transaction): Marker {
    const coordinatorEpoch = this.ports.coordinatorEpoch(transactionalId)
    return { producerId, producerEpoch, coordinatorEpoch, commit: state === 'PrepareCommit' }
  }

  private put(transaction: Transaction): void {
    this.transactions.set(transaction.transactionalId, transaction)
  }

  private context() {
    return { nowMs: this.ports.clock.now(), newProducerId: () => this.ports.newProducerId() }
  }
}
