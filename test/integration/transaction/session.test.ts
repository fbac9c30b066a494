import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import {
  batches,
  committedOf,
  laneOn,
  offsetOf,
  openReady,
  settledOffset,
  valuesIn,
  visibleNow,
  window,
} from '../../helpers/sessions.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

describe.each(kafkaVersions)('a session on Kafka %s', (version) => {
  let brokers: readonly string[]
  let cluster: Cluster
  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    cluster = clusterAt(brokers)
  })
  afterAll(() => cluster.close())

  test('speaks the protocol that the cluster has finalized', async () => {
    const topic = await createTopic(brokers, 'protocol')
    const session = await openReady(cluster, laneOn(topic))
    expect(session.protocol).toBe(version === '4.1' ? 2 : 1)
    expect(session.state).toBe('ready')
    expect(session.reusable).toBe(true)
  })

  test('outputs of several partitions and the source offset become visible together, at commit', async () => {
    const topic = await createTopic(brokers, 'commit', { partitions: 3 })
    const lane = laneOn(topic)
    const session = await openReady(cluster, lane)
    const partitions = [0, 1, 2].map((partition) => ({ topic, partition }))
    await session.begin(partitions, within(10_000))
    await Promise.all([
      session.send(
        partitions.map(({ partition }) =>
          batches(topic, partition, [`${partition}a`, `${partition}b`], [`${partition}c`]),
        ),
        within(10_000),
      ),
      session.sendOffsets([offsetOf(lane, 7, 'metadata')], within(10_000)),
    ])
    expect(await visibleNow(cluster, topic, 1)).toEqual([])
    expect(await visibleNow(cluster, topic, 1, 'read_uncommitted')).toEqual(['1a', '1b', '1c'])
    expect(await committedOf(cluster, lane)).toBe(null)
    expect(await committedOf(cluster, lane, true)).toBe('unstable')

    await session.commit(within(10_000))
    const next = await openReady(cluster, lane)
    for (const { partition } of partitions) {
      expect(await valuesIn(cluster, topic, partition)).toEqual([`${partition}a`, `${partition}b`, `${partition}c`])
    }
    expect(await next.readCommitted([lane.source], within(5_000))).toEqual([
      { ...lane.source, offset: 7n, metadata: 'metadata' },
    ])
  })

  test('one session carries window after window', async () => {
    const topic = await createTopic(brokers, 'windows')
    const lane = laneOn(topic)
    const session = await openReady(cluster, lane)
    for (let index = 1; index <= 20; index++) await window(session, lane, topic, [`${index}a`, `${index}b`], index)
    await openReady(cluster, lane)
    const expected = Array.from({ length: 20 }, (_, index) => [`${index + 1}a`, `${index + 1}b`]).flat()
    expect(await valuesIn(cluster, topic)).toEqual(expected)
    expect(await settledOffset(cluster, lane)).toBe(20)
  })

  test('an aborted window leaves nothing, and the session goes on', async () => {
    const topic = await createTopic(brokers, 'abort')
    const lane = laneOn(topic)
    const session = await openReady(cluster, lane)
    await window(session, lane, topic, ['kept'], 1)
    await session.begin([{ topic, partition: 0 }], within(10_000))
    await session.send([batches(topic, 0, ['dropped'])], within(10_000))
    await session.sendOffsets([offsetOf(lane, 2)], within(10_000))
    await session.abort(within(10_000))
    expect(session.reusable).toBe(true)
    await window(session, lane, topic, ['kept too'], 3)
    await openReady(cluster, lane)
    expect(await valuesIn(cluster, topic)).toEqual(['kept', 'kept too'])
    expect(await valuesIn(cluster, topic, 0, 'read_uncommitted')).toEqual(['kept', 'dropped', 'kept too'])
    expect(await settledOffset(cluster, lane)).toBe(3)
  })
})
