import { afterEach, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../../lib/kafka/cluster.ts'
import { LogCounter } from '../../../../lib/local/demo/log-counter.ts'
import { kafkaVersions } from '../../../../lib/local/kafka-jars.ts'
import { clusterAt, within } from '../../../helpers/kafka-client.ts'
import { produce, produceTransaction } from '../../../helpers/producing.ts'
import { batches, laneOn, offsetOf, openReady } from '../../../helpers/sessions.ts'
import { kafkaBrokers } from '../../../helpers/stack.ts'
import { createTopic } from '../../../helpers/topics.ts'

const clusters: Cluster[] = []
afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.close()
})

const values = (count: number) => Array.from({ length: count }, (_, index) => ({ value: `v${index}` }))

describe.each(kafkaVersions)('Kafka %s', (version) => {
  test('each reader counts what its isolation lets it see; committed transactions are counted once', async () => {
    const brokers = await kafkaBrokers(version)
    const topic = await createTopic(brokers, 'counted', { partitions: 3 })
    await produce(brokers, topic, values(7))
    await produceTransaction(brokers, topic, values(20), 'commit')
    await produceTransaction(brokers, topic, values(5), 'abort')
    await produceTransaction(brokers, topic, values(30), 'commit')
    const counters = (['read_uncommitted', 'read_committed'] as const).map((isolation) => {
      const cluster = clusterAt(brokers)
      clusters.push(cluster)
      return new LogCounter(cluster, [topic], isolation)
    })
    await Promise.all(counters.map((counter) => counter.run(AbortSignal.abort())))
    expect(counters.map(({ records }) => records)).toEqual([62, 57])
    expect(counters.map(({ transactions }) => transactions)).toEqual([2, 2])
  })

  test('what was written when the counting is to end is counted, although its markers come later', async () => {
    const brokers = await kafkaBrokers(version)
    const topic = await createTopic(brokers, 'counted')
    const cluster = clusterAt(brokers)
    clusters.push(cluster)
    const lane = laneOn(topic)
    const session = await openReady(cluster, lane)
    await session.begin([{ topic, partition: 0 }], within(10_000))
    await session.send([batches(topic, 0, ['a', 'b'])], within(10_000))
    await session.sendOffsets([offsetOf(lane, 2)], within(10_000))
    const counter = new LogCounter(cluster, [topic], 'read_committed')
    const counting = counter.run(AbortSignal.abort())
    await cluster.clock.sleep(500)
    expect(counter.records).toBe(0)
    await session.commit(within(10_000))
    await counting
    expect(counter.records).toBe(2)
  })
})
