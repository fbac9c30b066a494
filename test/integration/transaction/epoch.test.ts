import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { EPOCH_SPENT } from '../../../lib/transaction/epoch.ts'
import { clusterAt, initProducer, within } from '../../helpers/kafka-client.ts'
import {
  batches,
  laneOn,
  offsetOf,
  openReady,
  settledOffset,
  type TestLane,
  valuesIn,
  window,
} from '../../helpers/sessions.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

/** Requests on their way at once: one connection is served in order, so that each finds the last one done. */
const ABREAST = 100

describe('the last epochs of a producer id (P4)', () => {
  let brokers: readonly string[]
  let cluster: Cluster
  beforeAll(async () => {
    brokers = await kafkaBrokers('4.1')
    cluster = clusterAt(brokers)
  })
  afterAll(() => cluster.close())

  test('are stepped over: windows before, at and after them are committed once each, and an abort wedges nothing', {
    timeout: 120_000,
  }, async () => {
    const topic = await createTopic(brokers, 'epoch')
    const lane = laneOn(topic)
    await spendEpochs(cluster, lane, EPOCH_SPENT - 4)

    const session = await openReady(cluster, lane)
    expect(session.producerEpoch).toBe(EPOCH_SPENT - 3)
    await window(session, lane, topic, ['one'], 1)
    expect(session).toMatchObject({ producerEpoch: EPOCH_SPENT - 2, reusable: true })
    await session.begin([{ topic, partition: 0 }], within(10_000))
    await session.send([batches(topic, 0, ['dropped'])], within(10_000))
    await session.sendOffsets([offsetOf(lane, 2)], within(10_000))
    await session.abort(within(10_000))
    expect(session).toMatchObject({ state: 'closed', reusable: false })

    const rotated = await openReady(cluster, lane)
    expect(rotated.producerEpoch).toBeLessThan(10)
    expect(rotated.producerId).not.toBe(session.producerId)
    await window(rotated, lane, topic, ['two'], 2)
    await openReady(cluster, lane)
    expect(await valuesIn(cluster, topic)).toEqual(['one', 'two'])
    expect(await settledOffset(cluster, lane)).toBe(2)
  })

  test('end the session that commits into them, and the next barrier gets a new producer id', {
    timeout: 120_000,
  }, async () => {
    const topic = await createTopic(brokers, 'epoch')
    const lane = laneOn(topic)
    await spendEpochs(cluster, lane, EPOCH_SPENT - 2)
    const session = await openReady(cluster, lane)
    expect(session.producerEpoch).toBe(EPOCH_SPENT - 1)
    await window(session, lane, topic, ['one'], 1)
    expect(session).toMatchObject({ state: 'closed', reusable: false, producerEpoch: EPOCH_SPENT })
    const next = await openReady(cluster, lane)
    expect(next.producerEpoch).toBeLessThan(10)
    await window(next, lane, topic, ['two'], 2)
    await openReady(cluster, lane)
    expect(await valuesIn(cluster, topic)).toEqual(['one', 'two'])
  })
})

/** Barrier after barrier until the id has the epoch. */
async function spendEpochs(cluster: Cluster, { transactionalId }: TestLane, until: number): Promise<void> {
  let { producerEpoch } = await initProducer(cluster, transactionalId)
  const target = { to: 'transaction-coordinator', key: transactionalId } as const
  const body = { transactionalId, transactionTimeoutMs: 60_000, producerId: -1n, producerEpoch: -1 }
  while (producerEpoch < until) {
    const count = Math.min(ABREAST, until - producerEpoch)
    const asked = Array.from({ length: count }, () => cluster.request(target, 'InitProducerId', body, within(30_000)))
    const answers = await Promise.all(asked)
    producerEpoch = Math.max(producerEpoch, ...answers.map((answer) => answer.body.producerEpoch))
  }
  expect(producerEpoch).toBe(until)
}
