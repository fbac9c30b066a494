import { expect, test } from 'vitest'
import { type FetchAsk, type FetchLimits, readPartitions } from '../../../lib/kafka/fetch.ts'
import type { FetchRequest, FetchResponse, PartitionData } from '../../../lib/kafka/protocol/generated/fetch.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import { fetchAnswer, fetchedPartition } from '../../helpers/fetch-answers.ts'
import { logBatch } from '../../helpers/log-batches.ts'
import { node, ScriptedCluster, topic } from '../../helpers/scripted-cluster.ts'

const topicId = '11111111-1111-1111-1111-111111111111'
const otherId = '22222222-2222-2222-2222-222222222222'
const limits: FetchLimits = { maxBytes: 1_000_000, maxWaitMs: 0 }
const flights = topic('flights', topicId, [1, 2, 1])

const ask = (partition: number, over: Partial<FetchAsk> = {}): FetchAsk => ({
  topic: 'flights',
  topicId,
  partition,
  from: 0n,
  until: 100n,
  maxBytes: 100_000,
  ...over,
})

/** A partition's data: three records, unless told otherwise. */
const data = (partitionIndex: number, over: Partial<PartitionData> = {}): PartitionData =>
  fetchedPartition({
    partitionIndex,
    highWatermark: 3n,
    lastStableOffset: 3n,
    abortedTransactions: null,
    records: logBatch({ baseOffset: 0n, deltas: [0, 1, 2] }),
    ...over,
  })

const answer = (partitions: readonly PartitionData[], errorCode = 0): FetchResponse =>
  fetchAnswer(topicId, partitions, errorCode)

const partitionsOf = (body: FetchRequest) =>
  body.topics.flatMap((each) => each.partitions.map(({ partition }) => partition))
const answerAll = (body: FetchRequest) => answer(partitionsOf(body).map((partition) => data(partition)))
const silent = () => new TransportError(node(1), 'timeout', true, 'no answer within 5000 ms')

const read = (
  cluster: ScriptedCluster,
  asks: readonly FetchAsk[],
  over: Partial<FetchLimits> = {},
  deadlineMs?: number,
) => cluster.run((deadline) => readPartitions(cluster, asks, { ...limits, ...over }, deadline), deadlineMs)

test('one request per leader, by topic id, read_committed, without group or session, with the leader epoch', async () => {
  const cluster = new ScriptedCluster({ Fetch: answerAll }, [topic('flights', topicId, [1, 2, 1], 7)])
  const fetched = await read(cluster, [ask(0), ask(1), ask(2)])
  expect(fetched.map(({ partition, records }) => [partition, records.length])).toEqual([
    [0, 3],
    [1, 3],
    [2, 3],
  ])
  expect(fetched[0]).toMatchObject({ until: 3n, lastStableOffset: 3n, highWatermark: 3n, logStartOffset: 0n })
  const requests = cluster.asked.map(({ body }) => body as FetchRequest)
  expect(requests.map(partitionsOf)).toEqual([[0, 2], [1]])
  expect(requests[0]).toMatchObject({
    isolationLevel: 1,
    topics: [{ topicId, partitions: [{ currentLeaderEpoch: 7, fetchOffset: 0n, partitionMaxBytes: 100_000 }, {}] }],
  })
  expect(requests[0]).not.toHaveProperty('sessionId')
})

test('a leader that moved is found by fresh metadata and asked again; the other partitions are not', async () => {
  const moved = topic('flights', topicId, [3, 2, 1])
  const Fetch = (body: FetchRequest, at: number | string) =>
    at === 1 ? answer([data(0, { errorCode: 6, records: null }), data(2)].filter(isAsked(body))) : answerAll(body)
  const cluster = new ScriptedCluster({ Fetch }, [flights], [moved])
  const fetched = await read(cluster, [ask(0), ask(1), ask(2)])
  expect(fetched.map(({ records, error }) => [records.length, error])).toEqual([
    [3, undefined],
    [3, undefined],
    [3, undefined],
  ])
  expect(cluster.asked.map(({ body }) => partitionsOf(body as FetchRequest))).toEqual([[0, 2], [1], [0]])
  expect(cluster.forgotten).toEqual([{ to: 'leader', topic: 'flights', partition: 0 }])
})

const isAsked = (body: FetchRequest) => (each: PartitionData) => partitionsOf(body).includes(each.partitionIndex)

test.each([
  [1, 'OFFSET_OUT_OF_RANGE'],
  [29, 'NOT_AUTHORIZED'],
  [99, 'BROKER_ERROR'],
])('code %d ends as %s of its partition, asked once, and spoils no other', async (errorCode, code) => {
  const Fetch = () => answer([data(0, { errorCode, records: null }), data(2)])
  const cluster = new ScriptedCluster({ Fetch }, [flights])
  const [bad, good] = await read(cluster, [ask(0, { from: 50n }), ask(2)])
  expect(bad).toMatchObject({ records: [], until: 50n, error: { code } })
  expect(good?.records).toHaveLength(3)
  expect(cluster.asked).toHaveLength(1)
})

test('a corrupt batch is an error of its partition alone, and its position stays', async () => {
  const damaged = logBatch({ baseOffset: 0n, deltas: [0] })
  damaged.fill(0xff, 62)
  const cluster = new ScriptedCluster({ Fetch: () => answer([data(0, { records: damaged }), data(2)]) }, [flights])
  const [bad, good] = await read(cluster, [ask(0), ask(2)])
  expect(bad).toMatchObject({ records: [], until: 0n, error: { code: 'CORRUPT_BATCH' } })
  expect(good?.records).toHaveLength(3)
})

test('a topic that was recreated is not read: fresh metadata shows another id', async () => {
  const cluster = new ScriptedCluster(
    { Fetch: () => answer([data(0, { errorCode: 100 })]) },
    [flights],
    [topic('flights', otherId, [1])],
  )
  const [fetched] = await read(cluster, [ask(0)])
  expect(fetched?.error).toMatchObject({ code: 'SOURCE_REPLACED', message: expect.stringContaining(otherId) })
  expect(fetched?.records).toEqual([])
  expect(cluster.freshLooks).toBe(2)
})

test('a topic that is gone is reported as missing after looks at several brokers', async () => {
  const cluster = new ScriptedCluster({}, [])
  expect((await read(cluster, [ask(0)]))[0]?.error).toMatchObject({ code: 'TOPIC_MISSING' })
  expect(cluster.freshLooks).toBe(2)
})

test('a partition without leader waits for one, its neighbours do not', async () => {
  const leaderless = topic('flights', topicId, [null, 2])
  const cluster = new ScriptedCluster({ Fetch: answerAll }, [leaderless], [leaderless], [flights])
  const fetched = await read(cluster, [ask(0), ask(1)])
  expect(fetched.map(({ records }) => records.length)).toEqual([3, 3])
  expect(cluster.asked.map(({ body }) => partitionsOf(body as FetchRequest))).toEqual([[1], [0]])
})

test('a silent broker is asked again until the deadline, then named', async () => {
  const Fetch = () => {
    throw silent()
  }
  const cluster = new ScriptedCluster({ Fetch }, [flights])
  const startMs = cluster.clock.now()
  const [fetched] = await read(cluster, [ask(0)], {}, 3000)
  expect(fetched?.error).toMatchObject({
    code: 'BROKER_UNAVAILABLE',
    message: expect.stringContaining('broker-1:9092'),
  })
  expect(cluster.asked.length).toBeGreaterThan(4)
  expect(cluster.clock.now() - startMs).toBeLessThanOrEqual(3000)
})

test('wrong credentials are not tried again', async () => {
  const Fetch = () => {
    throw new TransportError(node(1), 'authentication', false, 'SASL PLAIN failed')
  }
  const cluster = new ScriptedCluster({ Fetch }, [flights])
  expect((await read(cluster, [ask(0)]))[0]?.error).toMatchObject({ code: 'AUTHENTICATION_FAILED' })
  expect(cluster.asked).toHaveLength(1)
})

test('a throttled answer without partitions is asked again, not taken for an empty log', async () => {
  const Fetch = (body: FetchRequest, _: unknown, count: number) =>
    count === 0 ? { ...answer([]), throttleTimeMs: 50, responses: [] } : answerAll(body)
  const cluster = new ScriptedCluster({ Fetch }, [flights])
  expect((await read(cluster, [ask(0)]))[0]?.records).toHaveLength(3)
})

test('an answer without records leaves the position where it is', async () => {
  const cluster = new ScriptedCluster({ Fetch: () => answer([data(0, { records: null })]) }, [flights])
  expect((await read(cluster, [ask(0, { from: 2n })]))[0]).toMatchObject({
    records: [],
    until: 2n,
    lastStableOffset: 3n,
  })
})

test('aborted records of the answer are dropped', async () => {
  const records = logBatch({ baseOffset: 0n, deltas: [0, 1, 2], producerId: 5n, transactional: true })
  const aborted = data(0, { records, abortedTransactions: [{ producerId: 5n, firstOffset: 0n }] })
  const cluster = new ScriptedCluster({ Fetch: () => answer([aborted]) }, [flights])
  expect((await read(cluster, [ask(0)]))[0]).toMatchObject({ records: [], until: 3n })
})

const rackOf = ({ body }: { readonly body: unknown }) => (body as FetchRequest).rackId
const nodeOf = ({ target }: { readonly target: unknown }) => (target as { node: { nodeId: number } }).node.nodeId

test('with a rack the leader names the nearest replica once, and the next reads go there at once', async () => {
  const Fetch = (body: FetchRequest, at: number | string) =>
    at === 1 ? answer([data(0, { preferredReadReplica: 3, records: null })]) : answerAll(body)
  const cluster = new ScriptedCluster({ Fetch }, [flights])
  for (let window = 0; window < 2; window++) {
    expect((await read(cluster, [ask(0)], { rackId: 'eu-west-1b' }))[0]?.records).toHaveLength(3)
  }
  expect(cluster.asked.map(nodeOf)).toEqual([1, 3, 3])
  expect(cluster.asked.map(rackOf)).toEqual(['eu-west-1b', 'eu-west-1b', 'eu-west-1b'])
})

test.each([
  [
    'is silent',
    () => {
      throw silent()
    },
  ],
  ['says that the offset is out of range', () => answer([data(0, { errorCode: 1, records: null })])],
  ['has a damaged log', () => answer([data(0, { records: Buffer.alloc(100) })])],
])('a replica that %s is left for the leader, whose word counts', async (_, ofReplica) => {
  const Fetch = (body: FetchRequest, at: number | string) => {
    if (at === 3) return ofReplica()
    return body.rackId === '' ? answerAll(body) : answer([data(0, { preferredReadReplica: 3, records: null })])
  }
  const cluster = new ScriptedCluster({ Fetch }, [flights])
  const [fetched] = await read(cluster, [ask(0)], { rackId: 'eu-west-1b' })
  expect(fetched).toMatchObject({ until: 3n })
  expect(fetched?.error).toBeUndefined()
  expect(cluster.asked.map(nodeOf)).toEqual([1, 3, 1])
})
