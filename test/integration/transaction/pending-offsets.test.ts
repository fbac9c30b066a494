import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { throughProxy } from '../../helpers/proxied-lane.ts'
import {
  batches,
  committedOf,
  failureOf,
  laneOn,
  openReady,
  settledOffset,
  valuesIn,
  window,
} from '../../helpers/sessions.ts'
import { createTopic } from '../../helpers/topics.ts'

let dataDir: string
let kafka: KafkaHandle
let direct: Cluster

/** Only without partition verification does a late TxnOffsetCommit open a transaction that nobody owns; preflight refuses that. */
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'fencepost-pending-'))
  const config = { 'transaction.partition.verification.enable': 'false' }
  kafka = await startKafka({ version: '3.9', dataDir, config })
  direct = clusterAt(kafka.brokers)
})
afterAll(async () => {
  await direct?.close()
  await kafka?.stop()
  await rm(dataDir, { recursive: true, force: true })
})

test('an offset that stays pending behind the barrier is freed by joining and aborting, and the lane goes on (P3)', async () => {
  const { proxy, cluster: proxied } = await throughProxy(kafka.brokers)
  const topic = await createTopic(kafka.brokers, 'pending')
  const lane = laneOn(topic)
  const session = await openReady(proxied, lane)
  const held = proxy.hold('TxnOffsetCommit')
  await window(session, lane, topic, ['one'], 1)
  await held.arrive()
  expect(held.fired).toBe(1)
  expect(await committedOf(direct, lane, true)).toBe('unstable')

  const before = proxy.requests.length
  const next = await openReady(proxied, lane)
  expect(proxy.requests.slice(before)).toEqual(expect.arrayContaining(['AddOffsetsToTxn', 'EndTxn']))
  expect(await next.readCommitted([lane.source], within(5_000))).toMatchObject([{ offset: 1n }])
  await window(next, lane, topic, ['two'], 2)
  await openReady(direct, lane)
  expect(await settledOffset(direct, lane)).toBe(2)
  expect(await valuesIn(direct, topic)).toEqual(['one', 'two'])
})

test.each([
  ['left to the barrier, its late batch is refused', false, ['two']],
  ['aborted all the same, its late batch is published by the next commit', true, ['two', 'two']],
] as const)('a transaction whose Produce was not answered: %s (P5)', async (_, aborts, visible) => {
  const { proxy, cluster: proxied } = await throughProxy(kafka.brokers)
  const topic = await createTopic(kafka.brokers, 'late')
  const lane = laneOn(topic)
  const session = await openReady(proxied, lane)
  await session.begin([{ topic, partition: 0 }], within(10_000))
  const { transactionalId, producerId, producerEpoch } = session
  const [held, blocked] = [proxy.hold('Produce'), proxy.block('Produce')]
  const failure = await failureOf(session.send([batches(topic, 0, ['two'])], within(400)))
  expect(failure.code).toBe('SESSION_POISONED')
  expect([held.fired, blocked.fired > 0]).toEqual([1, true])
  await session.abort(within(5_000))
  expect(proxy.requests).not.toContain('EndTxn')
  if (aborts) {
    const coordinator = { to: 'transaction-coordinator', key: transactionalId } as const
    const body = { transactionalId, producerId, producerEpoch, committed: false }
    await direct.request(coordinator, 'EndTxn', body, within(5_000), { maxVersion: 4 })
  }
  const next = await openReady(direct, lane)
  await held.arrive()
  await window(next, lane, topic, ['two'], 1)
  await openReady(direct, lane)
  expect(await valuesIn(direct, topic)).toEqual(visible)
})
