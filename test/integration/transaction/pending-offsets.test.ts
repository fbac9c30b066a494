import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { clusterThrough, startKafkaProxy } from '../../helpers/kafka-proxy.ts'
import { committedOf, laneOn, openReady, valuesIn, window } from '../../helpers/sessions.ts'
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
  const node = kafka.nodes[0]
  const proxy = await startKafkaProxy({ host: '127.0.0.1', port: node?.port ?? 0 })
  const proxied = clusterThrough(kafka.brokers, proxy)
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
  expect(await committedOf(direct, lane, true)).toBe(2)
  expect(await valuesIn(direct, topic)).toEqual(['one', 'two'])
  await proxied.close()
  await proxy.stop()
})
