import type { Deadline } from '../clock.ts'
import { isRelayError, RelayError } from '../errors.ts'
import type { Answer, Cluster, Target } from '../kafka/cluster.ts'
import type { PartitionProduceResponse } from '../kafka/protocol/generated/produce.ts'
import { type TopicPartition, tpKey } from '../kafka/record.ts'
import { gaveUp, mayTryAgain, type Outgoing, type Sending, transmit } from './exchange.ts'
import { allSettled, graver } from './gravest.ts'
import { type Judgement, judgeCode, notAnswered } from './judgement.ts'
import { pauses } from './pause.ts'
import type { PartitionBatches } from './session.ts'
import { isSilence, type Silence } from './silence.ts'

/** The part of an attempt that the broker may spend on waiting for its replicas. */
const BROKER_SHARE = 0.8

/** One batch on its way: bytes stamped once, the same buffer in each resend. */
interface Parcel extends TopicPartition {
  readonly bytes: Buffer
  readonly records: number
}

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

interface Attempt {
  /** What must be sent again. */
  readonly again: readonly Parcel[]
  /** Why; undefined when nothing must. */
  readonly last: Silence | Judgement | undefined
}

/** One request to one leader. */
async function attempt(sending: Sending, { target, parts }: Group<Parcel>, deadline: Deadline): Promise<Attempt> {
  const result = await transmit(sending, requestOf(sending, target, parts), deadline)
  if (!isSilence(result)) return judged(sending, parts, result)
  for (const parcel of parts) sending.cluster.forget(leaderOf(parcel))
  mayTryAgain(sending, result)
  return { again: parts, last: result }
}

function judged(sending: Sending, parcels: readonly Parcel[], answer: Answer<'Produce'>): Attempt {
  const answered = answeredParts(answer)
  const again: Parcel[] = []
  let last: Judgement | undefined
  let failure: unknown
  for (const parcel of parcels) {
    const judgement = judgeParcel(parcel, answered)
    if (judgement.verdict === 'ok') continue
    if (judgement.relocate) sending.cluster.forget(leaderOf(parcel))
    try {
      if (judgement.verdict === 'refused') throw refused(sending, parcel, judgement, answered.get(tpKey(parcel)))
      mayTryAgain(sending, judgement)
    } catch (error) {
      failure = graver(failure, error)
    }
    again.push(parcel)
    last = judgement
  }
  if (failure !== undefined) throw failure
  return { again, last }
}

type Answered = ReadonlyMap<string, PartitionProduceResponse>

function answeredParts({ body }: Answer<'Produce'>): Answered {
  const parts = body.responses.flatMap(({ name, partitionResponses }) =>
    partitionResponses.map((part) => [tpKey({ topic: name, partition: part.index }), part] as const),
  )
  return new Map(parts)
}

function judgeParcel(parcel: Parcel, answered: Answered): Judgement {
  const part = answered.get(tpKey(parcel))
  const { topic, partition } = parcel
  return part
    ? judgeCode('Produce', part.errorCode, { topic, partition })
    : notAnswered('Produce', { topic, partition })
}

const MESSAGE_TOO_LARGE = 10

/** The broker will never take this batch. The transaction can be aborted, and its owner finds the record. */
function refused(
  { ledger }: Sending,
  parcel: Parcel,
  judgement: Judgement,
  part?: PartitionProduceResponse,
): RelayError {
  const tooLarge = judgement.code === MESSAGE_TOO_LARGE
  const why = part?.errorMessage ? `${judgement.name} (${part.errorMessage})` : judgement.name
  const fix = tooLarge ? "raise the topic's max.message.bytes or write smaller records" : 'mend the record or drop it'
  const size = `a batch of ${parcel.records} records, ${parcel.bytes.length} bytes`
  const error = new RelayError(
    tooLarge ? 'RECORD_TOO_LARGE' : 'RECORD_INVALID',
    `${tpKey(parcel)} refuses ${size}: ${why}; ${fix}`,
    {
      context: {
        topic: parcel.topic,
        partition: parcel.partition,
        batchBytes: parcel.bytes.length,
        batchRecords: parcel.records,
        brokerCode: judgement.code,
        brokerMessage: part?.errorMessage ?? null,
        recordIndexes: part?.recordErrors.map((record) => record.batchIndex) ?? [],
      },
    },
  )
  return ledger.doubt(error)
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

const leaderOf = ({ topic, partition }: TopicPartition): Target => ({ to: 'leader', topic, partition })

interface Group<P> {
  readonly target: Target
  readonly parts: readonly P[]
}

/** A partition without a known leader stands alone: its request finds out, or fails and is tried again. */
async function byLeader<P extends TopicPartition>(
  { cluster }: Sending,
  parts: readonly P[],
  deadline: Deadline,
): Promise<Group<P>[]> {
  const groups = new Map<string, { target: Target; parts: P[] }>()
  for (const part of parts) {
    const target = await leaderNode(cluster, part, deadline)
    const key = target.to === 'node' ? String(target.node.nodeId) : tpKey(part)
    const group = groups.get(key) ?? { target, parts: [] }
    group.parts.push(part)
    groups.set(key, group)
  }
  return [...groups.values()]
}

async function leaderNode(cluster: Cluster, part: TopicPartition, deadline: Deadline): Promise<Target> {
  try {
    return { to: 'node', node: await cluster.locate(leaderOf(part), deadline) }
  } catch (error) {
    if (isRelayError(error) && error.code !== 'BROKER_UNAVAILABLE') throw error
    return leaderOf(part)
  }
}
