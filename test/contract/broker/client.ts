import { type Clock, deadlineIn, type Random } from '../../../lib/clock.ts'
import type { Cluster, Target } from '../../../lib/kafka/cluster.ts'
import { createCluster } from '../../../lib/kafka/kafka-cluster.ts'
import type { Api, RequestOf, ResponseOf } from '../../../lib/kafka/protocol/generated/index.ts'
import type { TopicPartition } from '../../../lib/kafka/record.ts'
import { BatchBuilder } from '../../../lib/kafka/record-batch/encode.ts'
import type { Transport } from '../../../lib/kafka/transport.ts'

/** Which generation of requests a test sends: those that know transaction.version 2, or the older ones. */
export type Generation = 1 | 2

const versions = {
  1: { produce: 11, txnOffsetCommit: 4, endTxn: 4 },
  2: { produce: 12, txnOffsetCommit: 5, endTxn: 5 },
} as const

/** Codes that say "not yet": internal topics are being made, or the transaction before is still completing. */
const transientCodes = [14, 15, 16, 51]
const answerMs = 15_000

export interface Producer {
  readonly transactionalId: string
  readonly producerId: bigint
  readonly producerEpoch: number
}

export interface Batch {
  /** Default 0. */
  readonly sequence?: number
  /** Default one record `value`. */
  readonly values?: readonly (string | null)[]
  readonly keys?: readonly (string | null)[]
  readonly timestampMs?: number
}

export interface Initialised {
  readonly code: number
  readonly producerId: bigint
  readonly producerEpoch: number
}

/**
 * Sends what a test says, once, as the test says it, and answers the codes. Only `begin`, `settled` and `end...AndWait`
 * ask again, and only what is transient.
 */
export class BrokerClient {
  readonly cluster: Cluster
  readonly clock: Clock

  constructor(transport: Transport, clock: Clock, random: Random) {
    this.cluster = createCluster(transport, clock, random)
    this.clock = clock
  }

  async ask<A extends Api>(target: Target, api: A, body: RequestOf<A>, maxVersion?: number): Promise<ResponseOf<A>> {
    const options = maxVersion === undefined ? {} : { maxVersion, minVersion: maxVersion }
    return (await this.cluster.request(target, api, body, this.soon(), options)).body
  }

  async createTopic(name: string, partitions: number, config: Readonly<Record<string, string>> = {}): Promise<string> {
    const configs = Object.entries(config).map(([key, value]) => ({ name: key, value }))
    const topic = { name, numPartitions: partitions, replicationFactor: -1, assignments: [], configs }
    const { topics } = await this.ask({ to: 'any' }, 'CreateTopics', { topics: [topic], timeoutMs: 10_000 })
    const [created] = topics
    if (created?.errorCode !== 0) throw new Error(`CreateTopics answered ${created?.errorCode} for ${name}`)
    await this.until(async () => {
      const known = (await this.cluster.topics([name], this.soon(), 'fresh')).get(name)
      return known?.topicId === created.topicId && known.partitions.every(({ leader }) => leader !== null)
    })
    for (let partition = 0; partition < partitions; partition++) {
      // brokers hear of a topic before they lead it
      await this.until(async () => (await this.listOffset({ topic: name, partition }, -1n)).code === 0)
    }
    return created.topicId
  }

  /** One InitProducerId. */
  async init(transactionalId: string, timeoutMs = 60_000, known?: Producer): Promise<Initialised> {
    const { producerId = -1n, producerEpoch = -1 } = known ?? {}
    const body = { transactionalId, transactionTimeoutMs: timeoutMs, producerId, producerEpoch }
    const answer = await this.ask(coordinator(transactionalId), 'InitProducerId', body)
    return { code: answer.errorCode, producerId: answer.producerId, producerEpoch: answer.producerEpoch }
  }

  /** InitProducerId until it succeeds. */
  async begin(transactionalId: string, timeoutMs = 60_000): Promise<Producer> {
    const { code, producerId, producerEpoch } = await this.settled(
      () => this.init(transactionalId, timeoutMs),
      ({ code }) => code,
    )
    if (code !== 0) throw new Error(`InitProducerId answered ${code} for ${transactionalId}`)
    return { transactionalId, producerId, producerEpoch }
  }

  async addPartitions(producer: Producer, ...partitions: readonly TopicPartition[]): Promise<readonly number[]> {
    const body = {
      v3AndBelowTransactionalId: producer.transactionalId,
      v3AndBelowProducerId: producer.producerId,
      v3AndBelowProducerEpoch: producer.producerEpoch,
      v3AndBelowTopics: partitions.map(({ topic, partition }) => ({ name: topic, partitions: [partition] })),
    }
    const answer = await this.ask(coordinator(producer.transactionalId), 'AddPartitionsToTxn', body)
    const results = answer.resultsByTopicV3AndBelow.flatMap(({ resultsByPartition }) => resultsByPartition)
    return results.map(({ partitionErrorCode }) => partitionErrorCode)
  }

  async addOffsets(producer: Producer, groupId: string): Promise<number> {
    return (await this.ask(coordinator(producer.transactionalId), 'AddOffsetsToTxn', { ...producer, groupId }))
      .errorCode
  }

  async produce(generation: Generation, producer: Producer, to: TopicPartition, batch: Batch = {}) {
    const bytes = batchOf({ timestampMs: this.clock.now(), ...batch }, { ...producer, transactional: true })
    return this.produceBytes(versions[generation].produce, producer.transactionalId, to, bytes)
  }

  /** Outside of any transaction, not idempotent. */
  async producePlain(to: TopicPartition, batch: Batch = {}) {
    const identity = { producerId: -1n, producerEpoch: -1, transactional: false }
    return this.produceBytes(
      versions[1].produce,
      null,
      to,
      batchOf({ sequence: -1, timestampMs: this.clock.now(), ...batch }, identity),
    )
  }

  async produceBytes(version: number, transactionalId: string | null, to: TopicPartition, records: Buffer) {
    const topicData = [{ name: to.topic, partitionData: [{ index: to.partition, records }] }]
    const target = await this.leaderOrAny(to)
    const body = { transactionalId, acks: -1, timeoutMs: 10_000, topicData }
    const partition = (await this.ask(target, 'Produce', body, version)).responses[0]?.partitionResponses[0]
    return { code: partition?.errorCode, baseOffset: partition?.baseOffset }
  }

  async commitOffset(
    generation: Generation,
    producer: Producer,
    group: string,
    of: TopicPartition,
    offset: bigint,
    metadata = '',
    version: number = versions[generation].txnOffsetCommit,
  ): Promise<number | undefined> {
    const topics = [offsetTopic(of, offset, metadata)]
    const body = { ...producer, groupId: group, topics }
    const answer = await this.ask(groupOf(group), 'TxnOffsetCommit', body, version)
    return answer.topics[0]?.partitions[0]?.errorCode
  }

  /** OffsetCommit, by somebody else's hand. */
  async commitPlain(group: string, of: TopicPartition, offset: bigint, metadata = ''): Promise<number | undefined> {
    const body = { groupId: group, topics: [offsetTopic(of, offset, metadata)] }
    return (await this.ask(groupOf(group), 'OffsetCommit', body)).topics[0]?.partitions[0]?.errorCode
  }

  async committed(group: string, of: TopicPartition, requireStable: boolean) {
    const topics = [{ name: of.topic, partitionIndexes: [of.partition] }]
    const answer = await this.ask(groupOf(group), 'OffsetFetch', {
      groups: [{ groupId: group, topics }],
      requireStable,
    })
    const [found] = answer.groups
    const partition = found?.topics[0]?.partitions[0]
    return {
      code: found?.errorCode || partition?.errorCode,
      offset: partition?.committedOffset,
      metadata: partition?.metadata,
    }
  }

  /** The committed offset once no transactional commit is pending. */
  async committedOffset(group: string, of: TopicPartition): Promise<bigint | undefined> {
    await this.until(async () => (await this.committed(group, of, true)).code !== 88)
    const { code, offset } = await this.committed(group, of, true)
    if (code !== 0) throw new Error(`OffsetFetch answered ${code}`)
    return offset
  }

  /** One EndTxn. */
  async end(generation: Generation, producer: Producer, commit: boolean): Promise<Initialised> {
    const body = { ...producer, committed: commit }
    const answer = await this.ask(coordinator(producer.transactionalId), 'EndTxn', body, versions[generation].endTxn)
    return { code: answer.errorCode, producerId: answer.producerId, producerEpoch: answer.producerEpoch }
  }

  /** EndTxn, and the wait for its markers. Answers who the producer is from then on. */
  async endAndWait(generation: Generation, producer: Producer, commit: boolean): Promise<Producer> {
    const { code, producerId, producerEpoch } = await this.end(generation, producer, commit)
    if (code !== 0) throw new Error(`EndTxn answered ${code}`)
    await this.untilCompleted(producer.transactionalId)
    return generation === 1 ? producer : { ...producer, producerId, producerEpoch }
  }

  async untilCompleted(transactionalId: string): Promise<void> {
    await this.until(async () => (await this.transaction(transactionalId)).transactionState.startsWith('Complete'))
  }

  async transaction(transactionalId: string) {
    const body = { transactionalIds: [transactionalId] }
    const [state] = (await this.ask(coordinator(transactionalId), 'DescribeTransactions', body)).transactionStates
    if (state === undefined) throw new Error('DescribeTransactions answered nothing')
    return state
  }

  async listOffset(of: TopicPartition, timestamp: bigint, isolation: 0 | 1 = 0, currentLeaderEpoch = -1) {
    const partitions = [{ partitionIndex: of.partition, currentLeaderEpoch, timestamp }]
    const body = { replicaId: -1, isolationLevel: isolation, topics: [{ name: of.topic, partitions }] }
    const partition = (await this.ask(await this.leaderOrAny(of), 'ListOffsets', body)).topics[0]?.partitions[0]
    return { code: partition?.errorCode, offset: partition?.offset, timestamp: partition?.timestamp }
  }

  async fetch(of: TopicPartition, from: bigint, over: FetchOptions = {}) {
    const { isolation = 1, partitionMaxBytes = 1_000_000, currentLeaderEpoch = -1, maxWaitMs = 0 } = over
    const topicId = over.topicId ?? (await this.cluster.topics([of.topic], this.soon())).get(of.topic)?.topicId ?? ''
    const partitions = [{ partition: of.partition, fetchOffset: from, partitionMaxBytes, currentLeaderEpoch }]
    const body: RequestOf<'Fetch'> = {
      maxWaitMs,
      minBytes: 1,
      isolationLevel: isolation,
      topics: [{ topicId, partitions }],
      forgottenTopicsData: [],
    }
    const [partition] = (await this.ask(await this.leaderOrAny(of), 'Fetch', body)).responses[0]?.partitions ?? []
    if (partition === undefined) throw new Error('Fetch answered nothing')
    return partition
  }

  /** Asks again while the code is a transient one. */
  async settled<T>(ask: () => Promise<T>, codeOf: (answer: T) => number | undefined): Promise<T> {
    for (const deadline = this.soon(); ; await this.clock.sleep(20)) {
      const answer = await ask()
      if (!transientCodes.includes(codeOf(answer) ?? 0) || deadline.remainingMs() <= 0) return answer
    }
  }

  async until(isTrue: () => Promise<boolean>, withinMs = answerMs): Promise<void> {
    for (const deadline = deadlineIn(this.clock, withinMs); !(await isTrue()); await this.clock.sleep(20)) {
      if (deadline.remainingMs() <= 0) throw new Error(`not true after ${withinMs} ms: ${isTrue}`)
    }
  }

  private soon() {
    return deadlineIn(this.clock, answerMs)
  }

  /** Missing topics have no leader: any broker refuses them. */
  private async leaderOrAny({ topic, partition }: TopicPartition): Promise<Target> {
    const known = (await this.cluster.topics([topic], this.soon())).get(topic)?.partitions[partition]
    return known?.leader ? { to: 'node', node: known.leader } : { to: 'any' }
  }
}

export interface FetchOptions {
  readonly isolation?: 0 | 1
  readonly partitionMaxBytes?: number
  readonly currentLeaderEpoch?: number
  readonly maxWaitMs?: number
  readonly topicId?: string
}

interface Writer {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly transactional: boolean
}

/** Records of long ago would end the segment at the first marker, and with it each Fetch answer. */
export function batchOf(
  batch: Batch & { readonly timestampMs: number },
  { producerId, producerEpoch, transactional }: Writer,
): Buffer {
  const { sequence = 0, values = ['value'], keys = [], timestampMs } = batch
  const builder = new BatchBuilder({ maxBytes: 10_000_000 })
  values.forEach((value, index) => {
    builder.tryAppend({ key: bytesOf(keys[index] ?? null), value: bytesOf(value), timestampMs })
  })
  return builder.build({ producerId, producerEpoch, baseSequence: sequence, transactional })
}

const bytesOf = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text))

function offsetTopic({ topic, partition }: TopicPartition, offset: bigint, metadata: string) {
  const partitions = [{ partitionIndex: partition, committedOffset: offset, committedMetadata: metadata }]
  return { name: topic, partitions }
}

const coordinator = (key: string): Target => ({ to: 'transaction-coordinator', key })
const groupOf = (key: string): Target => ({ to: 'group-coordinator', key })
