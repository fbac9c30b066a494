/** Producer id and epoch: what the broker fences by. */
export interface ProducerIdentity {
  readonly producerId: bigint
  readonly producerEpoch: number
}

/**
 * From this epoch on no transaction may begin: on transaction.version 2 it would end in an epoch that the broker can
 * never leave again (P4, KAFKA-20090). InitProducerId gives a new producer id here.
 */
export const EPOCH_SPENT = 32_766

/**
 * From this epoch on no EndTxn(abort) is sent on transaction.version 2. An abort can revive a session that was fenced
 * without knowing it, one or two epochs further than the last one it saw, and that must stay below `EPOCH_SPENT` (P4).
 */
export const EPOCH_ABORTS_END = EPOCH_SPENT - 2

/**
 * Who the session is after EndTxn was answered 0 on transaction.version 2: the same producer one epoch further, or a new
 * producer id from epoch 0 on. Null for any other answer: it is not the successor of what this session knew, so the
 * transaction is ended, but the session must not go on.
 * Source: KIP-890, EndTxn 5.
 */
export function successorOf(before: ProducerIdentity, answered: ProducerIdentity): ProducerIdentity | null {
  const sameProducer = answered.producerId === before.producerId && answered.producerEpoch === before.producerEpoch + 1
  const newProducer =
    answered.producerId >= 0n && answered.producerId !== before.producerId && answered.producerEpoch === 0
  return sameProducer || newProducer ? answered : null
}

const SEQUENCES = 2 ** 31

/** Sequences of a partition count records and wrap to 0 after 2^31 - 1, also inside a batch. */
export const advanceSequence = (sequence: number, records: number): number => (sequence + records) % SEQUENCES
