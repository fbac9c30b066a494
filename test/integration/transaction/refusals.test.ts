import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemRandom } from '../../../lib/clock.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { openIdempotentProducer } from '../../../lib/transaction/idempotent-producer.ts'
import { openSession } from '../../../lib/transaction/open-session.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import {
  batch,
  batches,
  failureOf,
  laneOn,
  offsetOf,
  openReady,
  settledOffset,
  type TestLane,
  valuesIn,
  window,
} from '../../helpers/sessions.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

describe.each(kafkaVersions)('what Kafka %s refuses', (version) => {
  let brokers: readonly string[]
  let cluster: Cluster
  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    cluster = clusterAt(brokers)
  })
  afterAll(() => cluster.close())

  test('a batch above max.message.bytes: the record is refused by name and size, the window is aborted, others go on', async () => {
    const topic = await createTopic(brokers, 'large', { config: { 'max.message.bytes': '1000' } })
    const lane = laneOn(topic)
    const session = await openReady(cluster, lane)
    await session.begin([{ topic, partition: 0 }], within(10_000))
    const outputs = {
      topic,
      partition: 0,
      batches: [batch(['fits']), batch(['x'.repeat(2_000)]), batch(['never sent'])],
    }
    const failure = await failureOf(session.send([outputs], within(10_000)))
    expect(failure).toMatchObject({ code: 'RECORD_TOO_LARGE', disposition: 'reject-record', outcome: 'not-applied' })
    expect(failure.context).toMatchObject({ topic, partition: 0, batchRecords: 1, brokerCode: 10 })
    expect(failure.context.batchBytes).toBeGreaterThan(2_000)
    expect((await failureOf(session.commit(within(5_000)))).code).toBe('SESSION_POISONED')
    await session.abort(within(10_000))
    expect(session).toMatchObject({ state: 'closed', reusable: false })

    const next = await openReady(cluster, lane)
    await window(next, lane, topic, ['smaller'], 1)
    await openReady(cluster, lane)
    expect(await valuesIn(cluster, topic)).toEqual(['smaller'])
    expect(await valuesIn(cluster, topic, 0, 'read_uncommitted')).toEqual(['fits', 'smaller'])
  })

  test('a record without key in a compacted topic (87) and a timestamp out of bounds (32): RECORD_INVALID', async () => {
    const compacted = await createTopic(brokers, 'compacted', { config: { 'cleanup.policy': 'compact' } })
    const recent = await createTopic(brokers, 'recent', { config: { 'message.timestamp.before.max.ms': '1' } })
    for (const [topic, code] of [
      [compacted, 87],
      [recent, 32],
    ] as const) {
      const session = await openReady(cluster, laneOn(topic))
      await session.begin([{ topic, partition: 0 }], within(10_000))
      const failure = await failureOf(session.send([batches(topic, 0, ['refused'])], within(10_000)))
      expect(failure).toMatchObject({ code: 'RECORD_INVALID', disposition: 'reject-record' })
      expect(failure.context).toMatchObject({ topic, partition: 0, brokerCode: code, batchRecords: 1 })
      await session.abort(within(10_000))
    }
  })

  test('an output topic that does not exist: TOPIC_MISSING names it, at begin', async () => {
    const topic = await createTopic(brokers, 'source')
    const session = await openReady(cluster, laneOn(topic))
    const missing = freshName('missing')
    const failure = await failureOf(session.begin([{ topic: missing, partition: 0 }], within(10_000)))
    expect(failure).toMatchObject({ code: 'TOPIC_MISSING', disposition: 'fix-config' })
    expect(failure.message).toContain(missing)
  })

  test('offsets of a topic that does not exist: TOPIC_MISSING names it', async () => {
    const missing = freshName('missing')
    const lane = laneOn(missing)
    const session = await openSession(cluster, lane, systemRandom, within(10_000))
    await session.readCommitted([lane.source], within(5_000))
    await session.begin([], within(10_000))
    const failure = await failureOf(session.sendOffsets([offsetOf(lane, 1)], within(10_000)))
    expect(failure).toMatchObject({ code: 'TOPIC_MISSING', disposition: 'fix-config' })
    expect(failure.message).toContain(missing)
  })

  test('a transaction timeout above the maximum of the broker: both numbers are named', async () => {
    const lane = laneOn(await createTopic(brokers, 'timeout'), { transactionTimeoutMs: 900_001 })
    const failure = await failureOf(openSession(cluster, lane, systemRandom, within(10_000)))
    expect(failure).toMatchObject({ code: 'TRANSACTION_TIMEOUT_TOO_LONG', disposition: 'fix-config' })
    expect(failure.context).toMatchObject({ transactionTimeoutMs: 900_001, transactionMaxTimeoutMs: 900_000 })
    expect(failure.message).toMatch(/900001.*900000/)
  })
})

describe.each(kafkaVersions)('what a session on Kafka %s refuses', (version) => {
  let brokers: readonly string[]
  let cluster: Cluster
  let topic: string
  let lane: TestLane
  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    cluster = clusterAt(brokers)
    topic = await createTopic(brokers, 'rules', { partitions: 2 })
  })
  afterAll(() => cluster.close())

  test('offsets of a partition that it never read', async () => {
    lane = laneOn(topic)
    const session = await openSession(cluster, lane, systemRandom, within(10_000))
    await session.begin([], within(10_000))
    expect((await failureOf(session.sendOffsets([offsetOf(lane, 1)], within(5_000)))).code).toBe('INVARIANT_BROKEN')
    expect((await failureOf(session.commit(within(5_000)))).code).toBe('SESSION_POISONED')
  })

  test('a commit without offsets, a partition that was not announced, a commit beside a send', async () => {
    lane = laneOn(topic)
    const bare = await openReady(cluster, lane)
    await bare.begin([{ topic, partition: 0 }], within(10_000))
    await bare.send([batches(topic, 0, ['x'])], within(10_000))
    expect((await failureOf(bare.commit(within(5_000)))).code).toBe('INVARIANT_BROKEN')

    const stray = await openReady(cluster, lane)
    await stray.begin([{ topic, partition: 0 }], within(10_000))
    expect((await failureOf(stray.send([batches(topic, 1, ['x'])], within(5_000)))).code).toBe('INVARIANT_BROKEN')

    const hasty = await openReady(cluster, lane)
    await hasty.begin([{ topic, partition: 0 }], within(10_000))
    await hasty.sendOffsets([offsetOf(lane, 1)], within(10_000))
    const send = hasty.send([batches(topic, 0, ['x'])], within(10_000))
    expect((await failureOf(hasty.commit(within(5_000)))).code).toBe('INVARIANT_BROKEN')
    await send.catch(() => undefined)
    await openReady(cluster, lane)
    expect(await valuesIn(cluster, topic)).toEqual([])
  })

  test('an offset that somebody moved between its read and its commit: OFFSETS_DISAGREE, nothing is committed (step 9)', async () => {
    const own = await createTopic(brokers, 'moved')
    lane = laneOn(own)
    const session = await openReady(cluster, lane)
    await commitByHand(cluster, lane, 41n)
    await session.begin([{ topic: own, partition: 0 }], within(10_000))
    await session.send([batches(own, 0, ['x'])], within(10_000))
    const failure = await failureOf(session.sendOffsets([offsetOf(lane, 1)], within(10_000)))
    expect(failure).toMatchObject({ code: 'OFFSETS_DISAGREE', disposition: 'reopen', outcome: 'not-applied' })
    expect(failure.message).toMatch(/none.*41/)
    expect((await failureOf(session.commit(within(5_000)))).code).toBe('SESSION_POISONED')
    await session.abort(within(5_000))
    expect(await settledOffset(cluster, lane)).toBe(41)
  })

  test('offsets that vanished with their group (P2): seen by step 9; later than that by the next read, or put back (3.9)', async () => {
    const own = await createTopic(brokers, 'vanished')
    lane = laneOn(own)
    const first = await openReady(cluster, lane)
    await window(first, lane, own, ['one'], 1)
    const session = await openReady(cluster, lane)
    await deleteGroup(cluster, lane.group)
    await session.begin([], within(10_000))
    expect((await failureOf(session.sendOffsets([offsetOf(lane, 2)], within(10_000)))).message).toMatch(
      /read as 1.*none/,
    )

    const again = await openReady(cluster, lane)
    await again.begin([], within(10_000))
    await again.sendOffsets([offsetOf(lane, 2)], within(10_000))
    await deleteGroup(cluster, lane.group)
    await again.commit(within(10_000))
    const last = await openReady(cluster, lane)
    const found = await last.readCommitted([lane.source], within(5_000))
    expect(found).toMatchObject([{ offset: version === '4.1' ? null : 2n }])
  })

  test('nothing, when offsets are confirmed in a transaction of their own: it is aborted and the session goes on', async () => {
    const own = await createTopic(brokers, 'confirmed')
    lane = laneOn(own)
    const session = await openReady(cluster, lane)
    expect(await session.confirmCommitted([lane.source], within(10_000))).toMatchObject([{ offset: null }])
    expect(session.reusable).toBe(true)
    await window(session, lane, own, ['one'], 1)
    const next = await openReady(cluster, lane)
    expect(await next.confirmCommitted([lane.source], within(10_000))).toMatchObject([{ offset: 1n }])
    await commitByHand(cluster, lane, 9n)
    expect(await next.confirmCommitted([lane.source], within(10_000))).toMatchObject([{ offset: 9n }])
    expect(next.reusable).toBe(true)
  })
})

describe.each(kafkaVersions)('an idempotent producer on Kafka %s', (version) => {
  test('writes in order without a transaction; calls that nobody awaits keep their order; a refusal ends it', async () => {
    const brokers = await kafkaBrokers(version)
    const cluster = clusterAt(brokers)
    const topic = await createTopic(brokers, 'idempotent', { config: { 'max.message.bytes': '1000' } })
    const producer = await openIdempotentProducer(cluster, systemRandom, within(10_000))
    const sends = ['a', 'b', 'c'].map((value) =>
      producer.send([batches(topic, 0, [value], [`${value}2`])], within(10_000)),
    )
    await Promise.all(sends)
    expect(await valuesIn(cluster, topic)).toEqual(['a', 'a2', 'b', 'b2', 'c', 'c2'])
    const refused = producer.send([batches(topic, 0, ['x'.repeat(2_000)])], within(10_000))
    expect((await failureOf(refused)).code).toBe('RECORD_TOO_LARGE')
    expect(producer.usable).toBe(false)
    expect((await failureOf(producer.send([batches(topic, 0, ['d'])], within(10_000)))).code).toBe('SESSION_POISONED')
    expect(await valuesIn(cluster, topic)).toHaveLength(6)
    await cluster.close()
  })
})

async function commitByHand(cluster: Cluster, { group, source }: TestLane, offset: bigint): Promise<void> {
  const partitions = [{ partitionIndex: source.partition, committedOffset: offset, committedMetadata: '' }]
  const request = { groupId: group, topics: [{ name: source.topic, partitions }] }
  const target = { to: 'group-coordinator', key: group } as const
  const { body } = await cluster.request(target, 'OffsetCommit', request, within(5_000))
  expect(body.topics[0]?.partitions[0]?.errorCode).toBe(0)
}

async function deleteGroup(cluster: Cluster, group: string): Promise<void> {
  const target = { to: 'group-coordinator', key: group } as const
  const { body } = await cluster.request(target, 'DeleteGroups', { groupsNames: [group] }, within(5_000))
  expect(body.results[0]?.errorCode).toBe(0)
}
