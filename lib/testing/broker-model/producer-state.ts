import type { FetchedBatch } from '../../kafka/record-batch/decode.ts'
import { isInSequence, lastSequenceOf, type Marker } from './batches.ts'
import { codes } from './codes.ts'

/** How many appended batches per producer are remembered to recognise a resend (Kafka: `ProducerStateEntry`). */
const rememberedBatches = 5
const noEpoch = -1
const noSequence = -1

interface AppendedBatch {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly baseOffset: bigint
}

export interface ProducerEntry {
  readonly producerId: bigint
  producerEpoch: number
  coordinatorEpoch: number
  lastTimestampMs: number
  /** Where its open transaction begins in this partition; null when it has none here. */
  transactionFirstOffset: bigint | null
  batches: AppendedBatch[]
}

/** A transaction that has ended in this partition. */
export interface EndedTransaction {
  readonly producerId: bigint
  readonly firstOffset: bigint
}

interface Verification {
  epoch: number
  lowestSequence: number
}

/**
 * What one partition knows of its producers: which epoch and sequence may come next, and which transactions are open.
 *
 * Source: Kafka `ProducerAppendInfo.java`, `ProducerStateManager.java`, `VerificationStateEntry.java`; KIP-98, KIP-890.
 */
export class ProducerStates {
  private readonly entries = new Map<bigint, ProducerEntry>()
  private readonly verifications = new Map<bigint, Verification>()

  all(): readonly ProducerEntry[] {
    return [...this.entries.values()]
  }

  /** Whether the producer may go on writing here without asking the coordinator whether its transaction is open. */
  hasOpenTransaction(producerId: bigint, producerEpoch: number): boolean {
    const entry = this.entries.get(producerId)
    return entry !== undefined && entry.transactionFirstOffset !== null && entry.producerEpoch === producerEpoch
  }

  /** The same, whatever the epoch. */
  isInTransaction(producerId: bigint): boolean {
    const first = this.entries.get(producerId)?.transactionFirstOffset
    return first !== undefined && first !== null
  }

  /** The first offset whose fate is open; null when none is. */
  firstUndecided(): bigint | null {
    let least: bigint | null = null
    for (const { transactionFirstOffset: first } of this.entries.values()) {
      if (first !== null && (least === null || first < least)) least = first
    }
    return least
  }

  /** Remembers the lowest sequence that waits for its verification: a higher one may not be appended before it. */
  beginVerification({ producerId, producerEpoch, baseSequence }: FetchedBatch): void {
    const known = this.verifications.get(producerId)
    if (known === undefined || producerEpoch > known.epoch) {
      this.verifications.set(producerId, { epoch: producerEpoch, lowestSequence: baseSequence })
    } else if (producerEpoch === known.epoch) {
      known.lowestSequence = Math.min(known.lowestSequence, baseSequence)
    }
  }

  /** False once a transactional append or a marker has come since `beginVerification`. */
  isVerifying(producerId: bigint): boolean {
    return this.verifications.has(producerId)
  }

  /** The base offset that the batch got when it came before; null when it is not among the last five of its epoch. */
  duplicateOf(batch: FetchedBatch): bigint | null {
    const entry = this.entries.get(batch.producerId)
    if (entry === undefined || entry.producerEpoch !== batch.producerEpoch) return null
    const lastSequence = lastSequenceOf(batch)
    const known = entry.batches.find(
      (other) => other.firstSequence === batch.baseSequence && other.lastSequence === lastSequence,
    )
    return known?.baseOffset ?? null
  }

  /** Code for a data batch. `startsAtZero`: version 2 producers must begin at 0 where nothing is known of them. */
  check(batch: FetchedBatch, startsAtZero: boolean): number {
    const entry = this.entries.get(batch.producerId)
    if (entry !== undefined && batch.producerEpoch < entry.producerEpoch) return codes.INVALID_PRODUCER_EPOCH
    if (!this.sequenceFits(batch, entry, startsAtZero)) return codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    const isInsideTransaction = entry !== undefined && entry.transactionFirstOffset !== null
    return isInsideTransaction && !batch.isTransactional ? codes.INVALID_TXN_STATE : codes.NONE
  }

  /** Takes note of a data batch that was appended at its base offset. */
  appended(batch: FetchedBatch): void {
    const entry = this.entryOf(batch.producerId)
    this.moveToEpoch(entry, batch.producerEpoch)
    const { baseSequence: firstSequence, baseOffset } = batch
    entry.batches = [
      ...entry.batches.slice(1 - rememberedBatches),
      { firstSequence, lastSequence: lastSequenceOf(batch), baseOffset },
    ]
    entry.lastTimestampMs = batch.maxTimestampMs
    if (batch.isTransactional) this.openAt(batch.producerId, baseOffset)
  }

  /** Code for writes that carry no sequence: only the epoch counts (offset commits by the group coordinator). */
  checkEpoch(producerId: bigint, producerEpoch: number): number {
    const entry = this.entries.get(producerId)
    return entry !== undefined && producerEpoch < entry.producerEpoch ? codes.INVALID_PRODUCER_EPOCH : codes.NONE
  }

  /** The same as `appended` for a transactional write without sequence. */
  appendedWithoutSequence(producerId: bigint, producerEpoch: number, offset: bigint, nowMs: number): void {
    const entry = this.entryOf(producerId)
    this.moveToEpoch(entry, producerEpoch)
    entry.lastTimestampMs = nowMs
    this.openAt(producerId, offset)
  }

  checkMarker({ producerId, producerEpoch, coordinatorEpoch }: Marker): number {
    const entry = this.entries.get(producerId)
    if (entry === undefined) return codes.NONE
    if (producerEpoch < entry.producerEpoch) return codes.INVALID_PRODUCER_EPOCH
    return coordinatorEpoch < entry.coordinatorEpoch ? codes.TRANSACTION_COORDINATOR_FENCED : codes.NONE
  }

  /** Takes note of a marker; answers the transaction that it ended here, null when none was open. */
  ended({ producerId, producerEpoch, coordinatorEpoch }: Marker, nowMs: number): EndedTransaction | null {
    const entry = this.entryOf(producerId)
    this.moveToEpoch(entry, producerEpoch)
    const firstOffset = entry.transactionFirstOffset
    entry.transactionFirstOffset = null
    entry.coordinatorEpoch = coordinatorEpoch
    entry.lastTimestampMs = nowMs
    this.verifications.delete(producerId)
    return firstOffset === null ? null : { producerId, firstOffset }
  }

  /** Forgets producers that have been idle since `beforeMs`, open transactions aside (`producer.id.expiration.ms`). */
  expire(beforeMs: number): void {
    for (const entry of this.entries.values()) {
      if (entry.transactionFirstOffset !== null || entry.lastTimestampMs > beforeMs) continue
      this.entries.delete(entry.producerId)
      this.verifications.delete(entry.producerId)
    }
  }

  private sequenceFits(batch: FetchedBatch, entry: ProducerEntry | undefined, startsAtZero: boolean): boolean {
    const { producerId, producerEpoch, baseSequence } = batch
    const isUnknown = entry === undefined || entry.batches.length === 0
    if (startsAtZero && isUnknown && baseSequence !== 0) return false
    const verification = this.verifications.get(producerId)
    if (verification !== undefined && baseSequence > verification.lowestSequence) return false
    if (entry === undefined) return true
    if (producerEpoch !== entry.producerEpoch) return baseSequence === 0
    return isInSequence(entry.batches.at(-1)?.lastSequence ?? noSequence, baseSequence)
  }

  private openAt(producerId: bigint, offset: bigint): void {
    const entry = this.entryOf(producerId)
    entry.transactionFirstOffset ??= offset
    this.verifications.delete(producerId)
  }

  /** A new epoch counts its sequences from 0 and remembers nothing of the old one. */
  private moveToEpoch(entry: ProducerEntry, producerEpoch: number): void {
    if (entry.producerEpoch === producerEpoch) return
    entry.producerEpoch = producerEpoch
    entry.batches = []
  }

  private entryOf(producerId: bigint): ProducerEntry {
    const known = this.entries.get(producerId)
    if (known !== undefined) return known
    const entry: ProducerEntry = {
      producerId,
      producerEpoch: noEpoch,
      coordinatorEpoch: -1,
      lastTimestampMs: -1,
      transactionFirstOffset: null,
      batches: [],
    }
    this.entries.set(producerId, entry)
    return entry
  }
}
