import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { TopicPartition } from '../../kafka/record.ts'
import type { FetchedBatch } from '../../kafka/record-batch/decode.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import { parseProduced } from './log.ts'
import type { ModelNode } from './node.ts'
import { leaderHint, serving } from './serving.ts'
import type { ModelPartition, ModelTopic } from './topics.ts'
import type { Identity } from './transaction-state.ts'

interface Write {
  readonly source: TopicPartition
  readonly batch: FetchedBatch
  readonly bytes: Buffer
  readonly partition: ModelPartition
}

interface Outcome {
  readonly source: TopicPartition
  readonly code: number
  readonly baseOffset?: bigint
  readonly logStartOffset?: bigint
  readonly logAppendTimeMs?: bigint
  readonly currentLeader?: { readonly leaderId: number; readonly leaderEpoch: number }
}

/** From this version on the broker adds the partition to the transaction by itself (KIP-890). */
const implicitJoinVersion = 12
/** From this version on a client understands 120. */
const abortableVersion = 11

/**
 * Produce: what is wrong with the request, then whether the transaction includes the partition, then the append.
 *
 * Source: Kafka `KafkaApis.handleProduceRequest`, `ReplicaManager.handleProduceAppend`, `AddPartitionsToTxnManager`,
 * `UnifiedLog.append`, `LogValidator`.
 */
export async function answerProduce(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'Produce'>,
  version: number,
): Promise<ResponseOf<'Produce'>> {
  const parsed = body.topicData.flatMap(({ name = '', partitionData }) =>
    partitionData.map(({ index, records }) =>
      parse(model, node, body.acks, { topic: name, partition: index }, records),
    ),
  )
  const writes = parsed.flatMap((one) => ('batch' in one ? [one] : []))
  const refused = await unverified(model, body, writes, version)
  const appended = writes.map((write) => append(model, write, refused.get(write) ?? codes.NONE, version))
  const outcomes = [...parsed.flatMap((one) => ('batch' in one ? [] : [one])), ...appended]
  return { responses: responses(body, outcomes), throttleTimeMs: 0, nodeEndpoints: [] }
}

function parse(
  model: ClusterModel,
  node: ModelNode,
  acks: number,
  source: TopicPartition,
  records: Buffer | null,
): Write | Outcome {
  const served = serving(model, node, source.topic, source.partition)
  if (acks !== -1 && acks !== 0 && acks !== 1) return { source, code: codes.INVALID_REQUIRED_ACKS }
  if (served.as === 'none' && served.partition === undefined) return { source, code: served.code }
  const batches = batchesOf(records, source)
  if (batches === null) return { source, code: codes.CORRUPT_MESSAGE }
  const [batch] = batches
  if (batch === undefined || batches.length > 1 || records === null) return { source, code: codes.INVALID_RECORD }
  // an ex-leader would append and wait in vain for its followers; that it refuses at once changes nothing that lasts
  if (served.as !== 'leader') {
    return { source, code: codes.NOT_LEADER_OR_FOLLOWER, currentLeader: leaderHint(served) }
  }
  return { source, batch, bytes: records, partition: served.partition }
}

function batchesOf(records: Buffer | null, source: TopicPartition): readonly FetchedBatch[] | null {
  try {
    return records === null ? [] : parseProduced(records, source)
  } catch {
    return null
  }
}

/** Codes of the writes whose transaction does not include the partition, or not any more. */
async function unverified(
  model: ClusterModel,
  body: RequestOf<'Produce'>,
  writes: readonly Write[],
  version: number,
): Promise<ReadonlyMap<Write, number>> {
  const { transactionalId } = body
  if (!transactionalId || !model.config.partitionVerification) return new Map()
  const doubtful = writes.filter((write) => isDoubtful(write) && !isFenced(write))
  const [first] = doubtful
  if (first === undefined) return new Map()
  beginVerification(doubtful)
  const identity: Identity = first.batch
  if (version >= implicitJoinVersion) {
    const code = await join(model, transactionalId, identity, doubtful, body.timeoutMs)
    return new Map(doubtful.map((write) => [write, verificationCode(code, version)]))
  }
  const verify = (write: Write) => model.transactions.verify(transactionalId, identity, write.source)
  return new Map(doubtful.map((write) => [write, verificationCode(verify(write), version)]))
}

/** Adds the partitions to the transaction, waiting a little for the one before to complete. */
async function join(
  model: ClusterModel,
  transactionalId: string,
  identity: Identity,
  writes: readonly Write[],
  timeoutMs: number,
): Promise<number> {
  const { addPartitionsRetryMs, addPartitionsRetryMaxMs } = model.config
  const partitions = writes.map(({ source }) => source)
  const untilMs = model.clock.now() + Math.min(addPartitionsRetryMaxMs, timeoutMs)
  for (;;) {
    const code = model.transactions.add(transactionalId, identity, partitions)
    if (code !== codes.CONCURRENT_TRANSACTIONS || model.clock.now() >= untilMs) return code
    await model.clock.sleep(addPartitionsRetryMs)
    // the last transaction's marker, which was waited for, ends what was being verified
    beginVerification(writes)
  }
}

function beginVerification(writes: readonly Write[]): void {
  for (const { partition, batch } of writes) partition.log.producers.beginVerification(batch)
}

function isDoubtful({ batch, partition }: Write): boolean {
  return batch.isTransactional && !partition.log.producers.hasOpenTransaction(batch.producerId, batch.producerEpoch)
}

/** The partition has seen a later epoch: it refuses the write by itself, without asking the coordinator. */
function isFenced({ batch: { producerId, producerEpoch }, partition }: Write): boolean {
  return partition.log.producers.checkEpoch(producerId, producerEpoch) !== codes.NONE
}

/** The coordinator's answer, put into codes that a producer of this version understands. */
function verificationCode(code: number, version: number): number {
  if (code === codes.PRODUCER_FENCED) return codes.INVALID_PRODUCER_EPOCH
  if (code === codes.TRANSACTION_ABORTABLE && version < abortableVersion) return codes.INVALID_TXN_STATE
  if (code === codes.CONCURRENT_TRANSACTIONS && version < implicitJoinVersion) return codes.NOT_ENOUGH_REPLICAS
  return code
}

function append(model: ClusterModel, write: Write, verification: number, version: number): Outcome {
  const { source, partition, bytes, batch } = write
  if (verification !== codes.NONE) return { source, code: verification }
  if (isFenced(write)) return { source, code: codes.INVALID_PRODUCER_EPOCH }
  const topic = model.topics.find(source.topic)
  if (topic === undefined) return { source, code: codes.UNKNOWN_TOPIC_OR_PARTITION }
  const refused = validate(model, topic, write)
  if (refused !== codes.NONE) return { source, code: refused }
  const { log, leaderEpoch } = partition
  const nowMs = model.clock.now()
  const usesAppendTime = model.topics.config(topic, 'message.timestamp.type') === 'LogAppendTime'
  // a marker that came after the coordinator's yes has ended what was verified
  const isUnverified =
    model.config.partitionVerification && isDoubtful(write) && !log.producers.isVerifying(batch.producerId)
  const startsAtZero = version >= implicitJoinVersion && batch.isTransactional
  const segments = model.topics.segmentLimits(topic)
  const result = log.append(bytes, { nowMs, leaderEpoch, segments, usesAppendTime, isUnverified, startsAtZero })
  if (result.code !== codes.NONE) return { source, ...result }
  return {
    source,
    ...result,
    logStartOffset: log.startOffset,
    ...(usesAppendTime && { logAppendTimeMs: BigInt(nowMs) }),
  }
}

/** What the topic's settings refuse. */
function validate(model: ClusterModel, topic: ModelTopic, { batch, partition }: Write): number {
  const setting = (name: string): string => model.topics.config(topic, name) ?? ''
  const inSync = partition.replicas.filter((id) => model.node(id).isUp).length
  if (inSync < Number(setting('min.insync.replicas'))) return codes.NOT_ENOUGH_REPLICAS
  if (batch.sizeBytes > Number(setting('max.message.bytes'))) return codes.MESSAGE_TOO_LARGE
  const isCompacted = setting('cleanup.policy').includes('compact')
  if (isCompacted && batch.records().some(({ key }) => key === null)) return codes.INVALID_RECORD
  const latestMs = model.clock.now() + Number(setting('message.timestamp.after.max.ms'))
  const usesAppendTime = setting('message.timestamp.type') === 'LogAppendTime'
  return !usesAppendTime && batch.maxTimestampMs > latestMs ? codes.INVALID_TIMESTAMP : codes.NONE
}

function responses(body: RequestOf<'Produce'>, outcomes: readonly Outcome[]): ResponseOf<'Produce'>['responses'] {
  return body.topicData.map(({ name = '' }) => ({
    name,
    partitionResponses: outcomes
      .filter(({ source }) => source.topic === name)
      .map(({ source, code, baseOffset = -1n, logStartOffset = -1n, logAppendTimeMs = -1n, currentLeader }) => ({
        index: source.partition,
        errorCode: code,
        baseOffset,
        logAppendTimeMs,
        logStartOffset,
        recordErrors: [],
        errorMessage: null,
        currentLeader: currentLeader ?? { leaderId: -1, leaderEpoch: -1 },
      })),
  }))
}
