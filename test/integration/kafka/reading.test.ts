import { CompressionTypes, Kafka, logLevel, type Producer } from 'kafkajs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { type FetchAsk, type FetchedPartition, type Isolation, readPartitions } from '../../../lib/kafka/fetch.ts'
import { fetchCommitted, listOffsets } from '../../../lib/kafka/offsets.ts'
import type { KafkaRecord } from '../../../lib/kafka/record.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { pattern } from '../../helpers/java-batches.ts'
import { batchOf, clusterAt, plainIdentity, within } from '../../helpers/kafka-client.ts'
import { readableEnd } from '../../helpers/sessions.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

const partition = 0

describe.each(kafkaVersions)('reading from Kafka %s', (version) => {
  let brokers: readonly string[]
  let cluster: Cluster
  let kafka: Kafka
  const producers: Producer[] = []

  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    cluster = clusterAt(brokers)
    kafka = new Kafka({ brokers: [...brokers], clientId: 'fencepost-test', logLevel: logLevel.NOTHING })
  })
  afterEach(async () => {
    for (const producer of producers.splice(0)) await producer.disconnect()
  })
  afterAll(() => cluster.close())

  async function producer(transactional = true): Promise<Producer> {
    const made = kafka.producer(
      transactional ? { transactionalId: freshName('writer'), maxInFlightRequests: 1, idempotent: true } : {},
    )
    producers.push(made)
    await made.connect()
    return made
  }

  async function ask(topic: string, over: Partial<FetchAsk> = {}): Promise<FetchAsk> {
    const topicId = (await cluster.topics([topic], within(5_000))).get(topic)?.topicId ?? ''
    return { topic, topicId, partition, from: 0n, until: 1_000_000n, maxBytes: 1_000_000, ...over }
  }

  async function read(asked: FetchAsk, isolation: Isolation = 'read_committed'): Promise<FetchedPartition> {
    const limits = { maxBytes: asked.maxBytes, maxWaitMs: 200, isolation }
    const [fetched] = await readPartitions(cluster, [asked], limits, within(10_000))
    if (fetched === undefined) throw new Error('no answer for the partition')
    return fetched
  }

  async function end(topic: string, isolation: Isolation = 'read_committed'): Promise<bigint> {
    const [answer] = await listOffsets(cluster, [{ topic, partition }], { at: 'latest', isolation }, within(5_000))
    if (answer === undefined || !('offset' in answer)) throw new Error('no end', { cause: answer?.error })
    return answer.offset
  }

  /** Window after window, as a lane reads, up to the end of the log. */
  async function drain(topic: string, over: Partial<FetchAsk> = {}): Promise<KafkaRecord[]> {
    const until = await readableEnd(cluster, topic)
    const records: KafkaRecord[] = []
    for (let from = 0n; from < until; ) {
      const window = await read(await ask(topic, { from, until, ...over }))
      if (window.error) throw window.error
      expect(window.until).toBeGreaterThan(from)
      records.push(...window.records)
      from = window.until
    }
    return records
  }

  const values = (records: readonly KafkaRecord[]) => records.map(({ value }) => String(value))

  test.each([
    ['one window', {}],
    ['windows of one batch', { maxBytes: 1 }],
    ['windows of one record', { maxRecords: 1 }],
  ])('interleaved transactions, read in %s: what was committed, once and in order', async (_, over) => {
    const topic = await createTopic(brokers, 'interleaved')
    const [first, second, plain] = await Promise.all([producer(), producer(), producer(false)])
    const send = (to: Pick<Producer, 'send'>, ...texts: string[]) =>
      to.send({ topic, messages: texts.map((value) => ({ value, partition })) })
    for (let round = 0; round < 2; round++) {
      const aborted = await first.transaction()
      const committed = await second.transaction()
      await send(aborted, `lost-${round}-1`, `lost-${round}-2`)
      await send(committed, `kept-${round}-1`)
      await send(plain, `plain-${round}`)
      await send(aborted, `lost-${round}-3`)
      await send(committed, `kept-${round}-2`)
      await aborted.abort()
      await committed.commit()
    }
    const later = await first.transaction()
    await send(later, 'kept-later')
    await later.commit()
    expect(values(await drain(topic, over))).toEqual([
      ...[0, 1].flatMap((round) => [`kept-${round}-1`, `plain-${round}`, `kept-${round}-2`]),
      'kept-later',
    ])
    const { markers, until } = await read(await ask(topic))
    expect(markers.map(({ kind }) => kind).sort()).toEqual(['abort', 'abort', 'commit', 'commit', 'commit'])
    expect(until).toBe(await end(topic))
  })

  test('records come as they were written: order of headers, repeated names, nulls, tombstones, timestamps', async () => {
    const topic = await createTopic(brokers, 'exact')
    const writer = await producer(false)
    await writer.send({
      topic,
      compression: CompressionTypes.GZIP,
      messages: [
        { partition, key: 'k', value: null, timestamp: '1700000000123' },
        { partition, key: null, value: Buffer.from([0x80, 0xff]), headers: { b: ['1', '2'], a: Buffer.from([0xff]) } },
      ],
    })
    const [tombstone, bytes] = await drain(topic)
    expect(tombstone).toMatchObject({ topic, partition, offset: 0n, value: null, timestampMs: 1700000000123 })
    expect(String(tombstone?.key)).toBe('k')
    expect(bytes).toMatchObject({ key: null, value: Buffer.from([0x80, 0xff]) })
    expect(bytes?.headers.map(({ key, value }) => [key, value?.toString('latin1')])).toEqual([
      ['b', '1'],
      ['b', '2'],
      ['a', '\xff'],
    ])
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd'])(
    'batches that the broker compressed with %s are read',
    async (compression) => {
      const topic = await createTopic(brokers, compression, { config: { 'compression.type': compression } })
      const texts = Array.from({ length: 500 }, (_, i) => `${i}-${pattern(i).toString('hex')}`)
      const records = batchOf(texts, plainIdentity)
      const body = {
        transactionalId: null,
        acks: -1,
        timeoutMs: 5_000,
        topicData: [{ name: topic, partitionData: [{ index: partition, records }] }],
      }
      await cluster.topics([topic], within(5_000))
      const { body: answer } = await cluster.request(
        { to: 'leader', topic, partition },
        'Produce',
        body,
        within(10_000),
        { maxVersion: 12 },
      )
      expect(answer.responses[0]?.partitionResponses[0]?.errorCode).toBe(0)
      const { records: read } = await reading(topic)
      expect(values(read)).toEqual(texts)
    },
  )

  const reading = async (topic: string) => read(await ask(topic))

  test('an open transaction holds back read_committed, not read_uncommitted', async () => {
    const topic = await createTopic(brokers, 'open')
    const writer = await producer()
    const open = await writer.transaction()
    await open.send({ topic, messages: [{ partition, value: 'not yet' }] })
    expect([await end(topic), await end(topic, 'read_uncommitted')]).toEqual([0n, 1n])
    expect(await read(await ask(topic))).toMatchObject({
      records: [],
      until: 0n,
      lastStableOffset: 0n,
      highWatermark: 1n,
    })
    expect(values((await read(await ask(topic), 'read_uncommitted')).records)).toEqual(['not yet'])
    await open.abort()
    await readableEnd(cluster, topic)
    expect(await read(await ask(topic, { until: 2n }))).toMatchObject({ records: [], until: 2n })
  })

  test('offsets are found by time, and -1 behind the last record', async () => {
    const topic = await createTopic(brokers, 'times')
    const writer = await producer(false)
    const timestamps = ['1700000000000', '1700000001000', '1700000002000']
    for (const timestamp of timestamps) await writer.send({ topic, messages: [{ partition, value: 'x', timestamp }] })
    const at = async (timestampMs: number) =>
      (
        await listOffsets(
          cluster,
          [{ topic, partition }],
          { at: timestampMs, isolation: 'read_committed' },
          within(5_000),
        )
      )[0]
    expect(await at(1700000000500)).toMatchObject({ offset: 1n, timestampMs: 1700000001000 })
    expect(await at(1700000009000)).toMatchObject({ offset: -1n })
  })

  test('a position below the start of the log is out of range, and the start is known', async () => {
    const topic = await createTopic(brokers, 'truncated')
    const writer = await producer(false)
    await writer.send({ topic, messages: ['a', 'b', 'c'].map((value) => ({ partition, value })) })
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, offset: 2n }] }]
    const leader = { to: 'leader', topic, partition } as const
    await cluster.request(leader, 'DeleteRecords', { topics, timeoutMs: 5_000 }, within(10_000))
    expect(await read(await ask(topic, { from: 1n }))).toMatchObject({
      until: 1n,
      error: { code: 'OFFSET_OUT_OF_RANGE' },
    })
    const earliest = { at: 'earliest', isolation: 'read_committed' } as const
    expect(await listOffsets(cluster, [{ topic, partition }], earliest, within(5_000))).toMatchObject([{ offset: 2n }])
    expect(await read(await ask(topic, { from: 9n }))).toMatchObject({ error: { code: 'OFFSET_OUT_OF_RANGE' } })
  })

  test('a topic deleted and made again under its name is refused by the id of the old one', async () => {
    const topic = await createTopic(brokers, 'recreated')
    const old = await ask(topic)
    const admin = kafka.admin()
    await admin.connect()
    await admin.deleteTopics({ topics: [topic] })
    await untilCreated(() => admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true }))
    await admin.disconnect()
    const writer = await producer(false)
    await writer.send({ topic, messages: [{ partition, value: 'of another log' }] })
    expect(await read(old)).toMatchObject({ records: [], until: 0n, error: { code: 'SOURCE_REPLACED' } })
  })

  test('one bad partition does not keep the others from being read', async () => {
    const topic = await createTopic(brokers, 'neighbours', { partitions: 2 })
    const writer = await producer(false)
    await writer.send({ topic, messages: [{ partition: 1, value: 'fine' }] })
    const asks = [
      await ask(topic, { from: 5n }),
      await ask(topic, { partition: 1 }),
      await ask(topic, { partition: 2 }),
    ]
    const fetched = await readPartitions(cluster, asks, { maxBytes: 1_000_000, maxWaitMs: 0 }, within(10_000))
    expect(fetched.map(({ records, error }) => [values(records), error?.code])).toEqual([
      [[], 'OFFSET_OUT_OF_RANGE'],
      [['fine'], undefined],
      [[], 'TOPIC_MISSING'],
    ])
  })

  test('committed offsets: none, stable, and unstable while a transaction is about to change them', async () => {
    const topic = await createTopic(brokers, 'committed')
    const group = freshName('group')
    const committed = (requireStable: boolean) =>
      fetchCommitted(cluster, { group, partitions: [{ topic, partition }], requireStable }, within(10_000))
    expect(await committed(true)).toMatchObject([{ offset: null, metadata: '' }])

    const writer = await producer()
    const commit = async (offset: string) => {
      const transaction = await writer.transaction()
      await transaction.send({ topic, messages: [{ partition, value: offset }] })
      await transaction.sendOffsets({
        consumerGroupId: group,
        topics: [{ topic, partitions: [{ partition, offset }] }],
      })
      return transaction
    }
    await (await commit('4')).commit()
    await expect.poll(() => committed(true)).toMatchObject([{ offset: 4n }])

    const open = await commit('5')
    expect(await committed(true)).toEqual([{ topic, partition, unstable: true }])
    expect(await committed(false)).toMatchObject([{ offset: 4n }])
    await open.abort()
    await expect.poll(() => committed(true)).toMatchObject([{ offset: 4n }])

    const node = await cluster.locate({ to: 'group-coordinator', key: group }, within(5_000))
    const pinned = { group, partitions: [{ topic, partition }], requireStable: false, node }
    expect(await fetchCommitted(cluster, pinned, within(5_000))).toMatchObject([{ offset: 4n }])
  })
})

/** A name is free again only some moments after its topic was deleted. */
async function untilCreated(create: () => Promise<unknown>): Promise<void> {
  await expect
    .poll(
      () =>
        create().then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true)
}
