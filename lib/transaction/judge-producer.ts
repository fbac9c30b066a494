import { type TopicPartition, tpKey } from '../kafka/record.ts'

/** A producer whose transaction holds back the readers of a partition, as the partition's leader describes it. */
export interface OpenProducer extends TopicPartition {
  readonly producerId: bigint
  readonly producerEpoch: number
  /** -1: no marker of this producer has ever been written here. */
  readonly coordinatorEpoch: number
  /** First offset of the open transaction. */
  readonly startOffset: bigint
  /** Of its last record here: a transaction whose number grows is at work. */
  readonly lastSequence: number
  /** Of its last batch. Said by the producer: records of long ago may be written now. */
  readonly lastTimestampMs: number
}

/** After which a transaction is looked at once more, before anything is concluded from its standing still. */
export const secondLookMs = 1_000

export const isSameTransaction = (one: OpenProducer, other: OpenProducer): boolean =>
  tpKey(one) === tpKey(other) && one.producerId === other.producerId && one.startOffset === other.startOffset

/** Nothing was written between the two looks. */
export const standsStill = (one: OpenProducer, later: OpenProducer): boolean =>
  isSameTransaction(one, later) && one.lastSequence === later.lastSequence

/** What a transaction coordinator says of a transactional id. */
export interface KnownTransaction {
  readonly transactionalId: string
  /** Every producer id that the id was seen with while it was asked for. */
  readonly producerIds: readonly bigint[]
  readonly producerEpoch: number
  readonly state: string
  /** Of the transaction that is open, by the coordinator's clock; -1: none is. */
  readonly startedAtMs: number
  /** By `tpKey`: those that a marker is still to be written to. */
  readonly partitions: ReadonlySet<string>
}

export type ProducerVerdict =
  /** No coordinator will ever end it. */
  | { readonly kind: 'hanging'; readonly known: KnownTransaction | null }
  /** Its coordinator ends it: after a commit, an abort, or its timeout. */
  | { readonly kind: 'live'; readonly known: KnownTransaction }
  /** Not part of what its coordinator knows of, but its producer may still write under the same epoch. */
  | { readonly kind: 'not fenced'; readonly known: KnownTransaction }
  /** Written to so short a time ago that it may be on its way. */
  | { readonly kind: 'young'; readonly known: KnownTransaction | null }

const unfinished: ReadonlySet<string> = new Set(['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'])

/**
 * Whether a transaction in a partition will never end by itself (KIP-664). A marker into a live one loses its records
 * although its commit is answered with a yes (P9), so a transaction hangs only if no coordinator knows its producer id, or
 * the one that does has moved on to a higher epoch, which shuts the old one out, and waits for no marker here.
 *
 * `known` must be what *all* coordinators know. Sources: KIP-664; Kafka's TransactionsCommand, which is content with a
 * transaction that does not name the partition: a producer with the same epoch may add it a moment later.
 */
export function judgeProducer(
  open: OpenProducer,
  known: readonly KnownTransaction[],
  nowMs: number,
  olderThanMs: number,
): ProducerVerdict {
  const theirs = known.filter(({ producerIds }) => producerIds.includes(open.producerId))
  const live = theirs.find(({ state, partitions }) => unfinished.has(state) && partitions.has(tpKey(open)))
  if (live) return { kind: 'live', known: live }
  const notFenced = theirs.find(
    ({ producerEpoch, producerIds }) => producerEpoch <= open.producerEpoch || producerIds.length > 1,
  )
  if (notFenced) return { kind: 'not fenced', known: notFenced }
  const [first = null] = theirs
  return { kind: nowMs - open.lastTimestampMs < olderThanMs ? 'young' : 'hanging', known: first }
}
