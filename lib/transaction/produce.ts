import type { Deadline } from '../clock.ts'
import type { Target } from '../kafka/cluster.ts'
import { byLeader, type Group, leaderOf } from './by-leader.ts'
import { gaveUp, mayTryAgain, type Outgoing, type Sending, transmit } from './exchange.ts'
import { allSettled } from './gravest.ts'
import { pauses } from './pause.ts'
import { type Attempt, judgeProduce, type Parcel } from './produce-answer.ts'
import type { PartitionBatches } from './session.ts'
import { isSilence } from './silence.ts'

/** The part of an attempt that the broker may spend on waiting for its replicas. */
const BROKER_SHARE = 0.8

/**
 * Writes all batches, in order per partition, and returns when each was acknowledged by all in-sync replicas.
 *
 * The batches of one partition go one after another, the partitions of one leader in one request, leaders in parallel. A
 * retriable answer or none is followed by the identical bytes (same sequence, same epoch) to the leader of then; the
 * broker drops what it has already. When one batch fails, nothing new is sent, and the error is thrown only after every
 * transmission was answered or given up.
 * @throws RelayError RECORD_TOO_LARGE, RECORD_INVALID, TOPIC_MISSING, NOT_AUTHORIZED, SESSION_FENCED, SESSION_POISONED
 */
export async function produce(sending: Sending, outputs: readonly PartitionBatches[], deadline: Deadline) {
  const filled = outputs.filter((output) => output.batches.length > 0)
  await sending.ledger.whileWriting(filled, async () => {
    const groups = await byLeader(sending, filled, deadline)
    await allSettled(groups.map(({ parts }) => inWaves(sending, parts, deadline)))
  })
}

/** Wave n holds the n-th batch of each partition. */
async function inWaves(sending: Sending, outputs: readonly PartitionBatches[], deadline: Deadline): Promise<void> {
  const waves = Math.max(...outputs.map((output) => output.batches.length))
  for (let wave = 0; wave < waves; wave++) {
    const parcels = outputs.flatMap((output) => parcelOf(sending, output, wave) ?? [])
    await deliver(sending, parcels, deadline)
  }
}

function parcelOf({ ledger }: Sending, output: PartitionBatches, wave: number): Parcel | null {
  const batch = output.batches[wave]
  if (batch === undefined) return null
  const baseSequence = ledger.nextSequence(output, batch.count)
  const bytes = batch.build({ ...ledger.identity, baseSequence, transactional: ledger.transactionalId !== null })
  return { topic: output.topic, partition: output.partition, bytes, records: batch.count }
}

async function deliver(sending: Sending, parcels: readonly Parcel[], deadline: Deadline): Promise<void> {
  const pause = pauses(sending.cluster.clock, sending.random)
  for (let left = parcels; ; ) {
    const groups = await byLeader(sending, left, deadline)
    const attempts = await allSettled(groups.map((group) => attempt(sending, group, deadline)))
    left = attempts.flatMap(({ again }) => again)
    if (left.length === 0) return
    const last = attempts.find(({ again }) => again.length > 0)?.last
    if (last !== undefined && !(await pause(deadline))) throw gaveUp(sending, 'Produce', last)
  }
}

/** One request to one leader. */
async function attempt(sending: Sending, { target, parts }: Group<Parcel>, deadline: Deadline): Promise<Attempt> {
  const result = await transmit(sending, requestOf(sending, target, parts), deadline)
  if (!isSilence(result)) return judgeProduce(sending, parts, result)
  for (const parcel of parts) sending.cluster.forget(leaderOf(parcel))
  mayTryAgain(sending, result)
  return { again: parts, last: result }
}

function requestOf(sending: Sending, target: Target, parcels: readonly Parcel[]): Outgoing<'Produce'> {
  const topicData = [...Map.groupBy(parcels, ({ topic }) => topic)].map(([name, parts]) => ({
    name,
    partitionData: parts.map((part) => ({ index: part.partition, records: part.bytes })),
  }))
  const { ledger, attemptTimeoutMs } = sending
  const timeoutMs = Math.floor(attemptTimeoutMs * BROKER_SHARE)
  const body = { transactionalId: ledger.transactionalId, acks: -1, timeoutMs, topicData }
  return { target, api: 'Produce', body, versions: produceVersions(sending) }
}

/** 12 joins the transaction by itself and checks the epoch of each transaction (KIP-890); 11 does not. */
function produceVersions({ ledger }: Sending) {
  if (ledger.transactionalId === null) return {}
  return ledger.protocol === 2 ? { minVersion: 12 } : { maxVersion: 11 }
}
