import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRelayError } from '../../../lib/errors.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { readBatches } from '../../../lib/kafka/record-batch/decode.ts'
import { readRange } from '../../../lib/kafka/record-batch/read-range.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { batchOf, clusterAt, initProducer, type Producer, untilSettled, within } from '../../helpers/kafka-client.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic, createTopicNamed } from '../../helpers/topics.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe.each(kafkaVersions)('a cluster of Kafka %s', (version) => {
  let brokers: readonly string[]
  let cluster: Cluster
  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    cluster = clusterAt(brokers)
  })
  afterAll(() => cluster.close())

  test('names its brokers and keeps its id', async () => {
    const known = await cluster.brokers(within(5_000))
    expect(known.map(({ host, port }) => `${host}:${port}`)).toEqual(brokers)
    expect(await cluster.clusterId(within(5_000))).toMatch(/^\S{22}$/)
  })

  test('tells topics with their ids and leaders, and leaves out those that do not exist', async () => {
    const topic = await createTopic(brokers, 'metadata', { partitions: 3 })
    const found = await cluster.topics([topic, `${topic}.none`], within(5_000))
    expect([...found.keys()]).toEqual([topic])
    const metadata = found.get(topic)
    expect(metadata?.topicId).toMatch(uuid)
    expect(metadata?.partitions.map(({ partition }) => partition)).toEqual([0, 1, 2])
    for (const partition of metadata?.partitions ?? []) {
      expect(partition).toMatchObject({ leaderEpoch: 0, leader: { nodeId: 1 }, replicas: [1], inSyncReplicas: [1] })
    }
  })

  test('sees that a topic was deleted and made again by its id, when asked anew', async () => {
    const topic = await createTopic(brokers, 'recreated')
    const before = (await cluster.topics([topic], within(5_000))).get(topic)?.topicId
    await deleteTopic(cluster, topic)
    expect((await cluster.topics([topic], within(5_000))).get(topic)?.topicId).toBe(before)
    await createTopicNamed(cluster, topic)
    const after = (await cluster.topics([topic], within(5_000), 'fresh')).get(topic)?.topicId
    expect(after).toMatch(uuid)
    expect(after).not.toBe(before)
  })

  test('refuses to locate the leader of a partition that does not exist', async () => {
    const topic = await createTopic(brokers, 'no-such-partition')
    const found = cluster.locate({ to: 'leader', topic, partition: 7 }, within(5_000))
    await expect(found).rejects.toSatisfy((error) => isRelayError(error) && error.code === 'TOPIC_MISSING')
  })

  test('tells the transaction protocol by the finalized feature', async () => {
    expect(await cluster.transactionVersion(within(5_000))).toBe(version === '4.1' ? 2 : 1)
  })

  test('carries one transaction: outputs and the source offset become visible together', async () => {
    const topic = await createTopic(brokers, 'transaction', { partitions: 2 })
    const transactionalId = freshName('transaction')
    const group = freshName('group')
    const producer = await initProducer(cluster, transactionalId)
    const transaction = { topic, transactionalId, group, producer }

    if ((await cluster.transactionVersion(within(5_000))) === 1) await join(cluster, transaction)
    await Promise.all([produce(cluster, transaction, 0), produce(cluster, transaction, 1)])
    await commitOffset(cluster, transaction, 5n)
    expect(await read(cluster, topic, 0)).toEqual([])

    await commit(cluster, transaction)
    expect(await read(cluster, topic, 0)).toEqual(['a0', 'b0'])
    expect(await read(cluster, topic, 1)).toEqual(['a1', 'b1'])
    expect(await committed(cluster, transaction)).toEqual({ offset: 5n, metadata: '{"v":1}' })
  })
})

interface Transaction {
  readonly topic: string
  readonly transactionalId: string
  readonly group: string
  readonly producer: Producer
}

const coordinator = ({ transactionalId }: Transaction) =>
  ({ to: 'transaction-coordinator', key: transactionalId }) as const

async function join(cluster: Cluster, transaction: Transaction): Promise<void> {
  const { topic, transactionalId, group, producer } = transaction
  await untilSettled(cluster, 'AddPartitionsToTxn', coordinator(transaction), async (deadline) => {
    const body = {
      v3AndBelowTransactionalId: transactionalId,
      v3AndBelowProducerId: producer.producerId,
      v3AndBelowProducerEpoch: producer.producerEpoch,
      v3AndBelowTopics: [{ name: topic, partitions: [0, 1] }],
    }
    const answer = await cluster.request(coordinator(transaction), 'AddPartitionsToTxn', body, deadline)
    const codes = answer.body.resultsByTopicV3AndBelow.flatMap(({ resultsByPartition }) =>
      resultsByPartition.map(({ partitionErrorCode }) => partitionErrorCode),
    )
    return { code: codes.find((code) => code !== 0) ?? 0, value: undefined }
  })
  await untilSettled(cluster, 'AddOffsetsToTxn', coordinator(transaction), async (deadline) => {
    const body = { transactionalId, groupId: group, ...producer }
    const answer = await cluster.request(coordinator(transaction), 'AddOffsetsToTxn', body, deadline)
    return { code: answer.body.errorCode, value: undefined }
  })
}

async function produce(cluster: Cluster, transaction: Transaction, partition: number): Promise<void> {
  const { topic, transactionalId, producer } = transaction
  const identity = { ...producer, baseSequence: 0, transactional: true }
  const records = batchOf([`a${partition}`, `b${partition}`], identity)
  const topicData = [{ name: topic, partitionData: [{ index: partition, records }] }]
  const leader = { to: 'leader', topic, partition } as const
  const maxVersion = (await cluster.transactionVersion(within(5_000))) === 2 ? 12 : 11
  await untilSettled(cluster, 'Produce', leader, async (deadline) => {
    const body = { transactionalId, acks: -1, timeoutMs: 5_000, topicData }
    const answer = await cluster.request(leader, 'Produce', body, deadline, { maxVersion })
    return { code: answer.body.responses[0]?.partitionResponses[0]?.errorCode ?? -1, value: undefined }
  })
}

async function commitOffset(cluster: Cluster, transaction: Transaction, offset: bigint): Promise<void> {
  const { topic, transactionalId, group, producer } = transaction
  const target = { to: 'group-coordinator', key: group } as const
  const partitions = [{ partitionIndex: 0, committedOffset: offset, committedMetadata: '{"v":1}' }]
  await untilSettled(cluster, 'TxnOffsetCommit', target, async (deadline) => {
    const body = { transactionalId, groupId: group, ...producer, topics: [{ name: topic, partitions }] }
    const answer = await cluster.request(target, 'TxnOffsetCommit', body, deadline)
    return { code: answer.body.topics[0]?.partitions[0]?.errorCode ?? -1, value: undefined }
  })
}

async function commit(cluster: Cluster, transaction: Transaction): Promise<void> {
  const body = { transactionalId: transaction.transactionalId, ...transaction.producer, committed: true }
  const epoch = await untilSettled(cluster, 'EndTxn', coordinator(transaction), async (deadline) => {
    const answer = await cluster.request(coordinator(transaction), 'EndTxn', body, deadline)
    return { code: answer.body.errorCode, value: answer.body.producerEpoch }
  })
  const isBumped = (await cluster.transactionVersion(within(5_000))) === 2
  expect(epoch).toBe(isBumped ? transaction.producer.producerEpoch + 1 : -1)
}

/** Read committed, to the last stable offset. Markers follow a commit a little later: the broker waits up to 500 ms for bytes. */
async function read(cluster: Cluster, topic: string, partition: number): Promise<string[]> {
  const topicId = (await cluster.topics([topic], within(5_000))).get(topic)?.topicId ?? ''
  const target = { to: 'leader', topic, partition } as const
  const partitions = [{ partition, fetchOffset: 0n, partitionMaxBytes: 1_000_000 }]
  const body = {
    maxWaitMs: 500,
    minBytes: 1,
    isolationLevel: 1,
    topics: [{ topicId, partitions }],
    forgottenTopicsData: [],
  }
  const answer = await cluster.request(target, 'Fetch', body, within(5_000))
  const data = answer.body.responses[0]?.partitions[0]
  if (data?.errorCode !== 0) throw new Error(`Fetch answered ${data?.errorCode}`)
  const batches = readBatches(data.records ?? Buffer.alloc(0), { topic, partition })
  const range = { from: 0n, until: data.lastStableOffset }
  return readRange(batches, range, data.abortedTransactions ?? []).records.map(({ value }) => String(value))
}

async function committed(cluster: Cluster, { group, topic }: Transaction) {
  const target = { to: 'group-coordinator', key: group } as const
  const body = { groups: [{ groupId: group, topics: [{ name: topic, partitionIndexes: [0] }] }], requireStable: true }
  return untilSettled(cluster, 'OffsetFetch', target, async (deadline) => {
    const found = (await cluster.request(target, 'OffsetFetch', body, deadline)).body.groups[0]
    const partition = found?.topics[0]?.partitions[0]
    const value = { offset: partition?.committedOffset, metadata: partition?.metadata }
    return { code: found?.errorCode || (partition?.errorCode ?? -1), value }
  })
}

async function deleteTopic(cluster: Cluster, name: string): Promise<void> {
  const body = { topics: [{ name, topicId: '00000000-0000-0000-0000-000000000000' }], timeoutMs: 10_000 }
  const answer = await cluster.request({ to: 'any' }, 'DeleteTopics', body, within(10_000))
  expect(answer.body.responses).toMatchObject([{ name, errorCode: 0 }])
}
