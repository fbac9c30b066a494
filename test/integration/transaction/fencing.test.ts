import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import type { TransactionSession } from '../../../lib/transaction/session.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import type { KafkaProxy } from '../../helpers/kafka-proxy.ts'
import { proxiedLane } from '../../helpers/proxied-lane.ts'
import {
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
import { kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

describe.each(kafkaVersions)('a session on Kafka %s that another one supersedes', (version) => {
  let brokers: readonly string[]
  let direct: Cluster
  let proxy: KafkaProxy
  let topic: string
  let lane: TestLane
  let old: TransactionSession

  beforeAll(async () => {
    brokers = await kafkaBrokers(version)
    direct = clusterAt(brokers)
  })
  afterAll(() => direct.close())
  beforeEach(async () => {
    ;({ proxy, topic, lane, session: old } = await proxiedLane(brokers, 'fencing', { partitions: 2 }))
  })

  const begin = () =>
    old.begin(
      [0, 1].map((partition) => ({ topic, partition })),
      within(10_000),
    )

  /** Whatever the owner tries afterwards, the broker hears nothing of it. */
  async function expectSilence(): Promise<void> {
    expect(old.state).toBe('fenced')
    expect(old.reusable).toBe(false)
    const before = proxy.requests.length
    await old.abort(within(5_000))
    const tries = [
      old.commit(within(5_000)),
      old.begin([], within(5_000)),
      old.send([batches(topic, 1, ['zombie'])], within(5_000)),
      old.sendOffsets([offsetOf(lane, 99)], within(5_000)),
    ]
    for (const attempt of tries) expect((await failureOf(attempt)).code).toBe('SESSION_FENCED')
    const transactional = proxy.requests.slice(before).filter((api) => !['Metadata', 'FindCoordinator'].includes(api))
    expect(transactional).toEqual([])
  }

  async function expectOnly(values: readonly string[], offset: number): Promise<void> {
    await openReady(direct, lane)
    expect(await valuesIn(direct, topic)).toEqual(values)
    expect(await settledOffset(direct, lane)).toBe(offset)
  }

  test('is refused when it sends, and then sends nothing more', async () => {
    await begin()
    await old.send([batches(topic, 0, ['two'])], within(10_000))
    const successor = await openReady(direct, lane)
    const failure = await failureOf(old.send([batches(topic, 0, ['zombie'])], within(10_000)))
    expect(failure).toMatchObject({ code: 'SESSION_FENCED', disposition: 'reopen', outcome: 'not-applied' })
    await expectSilence()
    await window(successor, lane, topic, ['two again'], 2)
    await expectOnly(['one', 'two again'], 2)
  })

  test('is refused when it sends offsets', async () => {
    await begin()
    await old.send([batches(topic, 0, ['two'])], within(10_000))
    await openReady(direct, lane)
    expect((await failureOf(old.sendOffsets([offsetOf(lane, 2)], within(10_000)))).code).toBe('SESSION_FENCED')
    await expectSilence()
    await expectOnly(['one'], 1)
  })

  test('is refused when it commits: not applied, because nothing of that EndTxn can have arrived before', async () => {
    await begin()
    await old.send([batches(topic, 0, ['two'])], within(10_000))
    await old.sendOffsets([offsetOf(lane, 2)], within(10_000))
    await openReady(direct, lane)
    const failure = await failureOf(old.commit(within(10_000)))
    expect(failure).toMatchObject({ code: 'SESSION_FENCED', outcome: 'not-applied' })
    await expectSilence()
    await expectOnly(['one'], 1)
  })

  test('is refused when it was idle in between and begins a window', async () => {
    const successor = await openReady(direct, lane)
    await window(successor, lane, topic, ['two'], 2)
    const late = async () => {
      await begin()
      await old.send([batches(topic, 0, ['zombie'])], within(10_000))
    }
    expect((await failureOf(late())).code).toBe('SESSION_FENCED')
    await expectSilence()
    await expectOnly(['one', 'two'], 2)
  })

  test('the barrier ends an open transaction of the same id', async () => {
    await begin()
    await old.send([batches(topic, 0, ['two'])], within(10_000))
    await old.sendOffsets([offsetOf(lane, 2)], within(10_000))
    const successor = await openReady(direct, lane)
    expect(await valuesIn(direct, topic)).toEqual(['one'])
    expect(await successor.readCommitted([lane.source], within(5_000))).toMatchObject([{ offset: 1n }])
    expect(successor.producerId).toBe(old.producerId)
    expect(successor.producerEpoch).toBeGreaterThan(old.producerEpoch)
  })
})

describe.each(kafkaVersions)('a transaction on Kafka %s that outlasts its timeout', (version) => {
  test('is fenced: at send, at commit, and never revived by an abort', { timeout: 90_000 }, async () => {
    const brokers = await kafkaBrokers(version)
    const cluster = clusterAt(brokers)
    const topic = await createTopic(brokers, 'timeout')
    const lanes = [laneOn(topic, { transactionTimeoutMs: 1 }), laneOn(topic, { transactionTimeoutMs: 1 })] as const
    const [sending, committing] = await Promise.all(lanes.map((lane) => openReady(cluster, lane)))
    if (sending === undefined || committing === undefined) throw new Error('two sessions')
    for (const [index, session] of [sending, committing].entries()) {
      await session.begin([{ topic, partition: 0 }], within(10_000))
      await session.send([batches(topic, 0, ['dropped'])], within(10_000))
      await session.sendOffsets([offsetOf(lanes[index] ?? lanes[0], 1)], within(10_000))
    }
    await Promise.all(lanes.map((lane) => untilTimedOut(cluster, lane)))
    expect((await failureOf(sending.send([batches(topic, 0, ['late'])], within(5_000)))).code).toBe('SESSION_FENCED')
    expect(await failureOf(committing.commit(within(5_000)))).toMatchObject({
      code: 'SESSION_FENCED',
      outcome: 'not-applied',
    })
    await sending.abort(within(5_000))
    await committing.abort(within(5_000))
    expect([sending.state, committing.state]).toEqual(['fenced', 'fenced'])
    expect(await valuesIn(cluster, topic)).toEqual([])
    for (const lane of lanes) {
      const next = await openReady(cluster, lane)
      expect(await next.readCommitted([lane.source], within(5_000))).toMatchObject([{ offset: null }])
    }
    await cluster.close()
  })
})

/** The coordinator looks for expired transactions every 10 s. */
async function untilTimedOut(cluster: Cluster, { transactionalId }: TestLane): Promise<void> {
  const target = { to: 'transaction-coordinator', key: transactionalId } as const
  for (const deadline = within(30_000); deadline.remainingMs() > 0; ) {
    const request = { transactionalIds: [transactionalId] }
    const { body } = await cluster.request(target, 'DescribeTransactions', request, deadline)
    if (body.transactionStates[0]?.transactionState === 'CompleteAbort') return
    await systemClock.sleep(100)
  }
  throw new Error(`${transactionalId} did not time out`)
}
