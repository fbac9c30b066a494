import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cluster, Target } from '../../../lib/kafka/cluster.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { batchOf, clusterAt, initProducer, plainIdentity, untilSettled, within } from '../../helpers/kafka-client.ts'
import { createTopic } from '../../helpers/topics.ts'

let dir: string
let kafka: KafkaHandle
let cluster: Cluster
let topic: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-failover-'))
  kafka = await startKafka({ version: '4.1', nodes: 3, heapMb: 384, dataDir: dir })
  cluster = clusterAt(kafka.brokers)
  topic = await createTopic(kafka.brokers, 'failover', { partitions: 3 })
})
afterAll(async () => {
  await cluster?.close()
  await kafka?.stop()
  await rm(dir, { recursive: true, force: true })
})

/** Plain records, acknowledged by all; the new leader is looked up as long as the answer, or none, says so. */
function produce(partition: number): Promise<void> {
  const leader: Target = { to: 'leader', topic, partition }
  const topicData = [{ name: topic, partitionData: [{ index: partition, records: batchOf(['v'], plainIdentity) }] }]
  return untilSettled(cluster, 'Produce', leader, async (deadline) => {
    try {
      const body = { transactionalId: null, acks: -1, timeoutMs: 2_000, topicData }
      const answer = await cluster.request(leader, 'Produce', body, deadline)
      return { code: answer.body.responses[0]?.partitionResponses[0]?.errorCode ?? -1, value: undefined }
    } catch (error) {
      if (error instanceof TransportError) return { code: 13, value: undefined }
      throw error
    }
  })
}

test('a broker that is killed is left: leaders and coordinators are found on the others', async () => {
  const transactionalId = 'failover-lane'
  const coordinator: Target = { to: 'transaction-coordinator', key: transactionalId }
  const before = await initProducer(cluster, transactionalId)
  const victim = await cluster.locate(coordinator, within(10_000))
  await Promise.all([produce(0), produce(1), produce(2)])

  await kafka.nodes.find(({ id }) => id === victim.nodeId)?.kill('SIGKILL')
  await Promise.all([produce(0), produce(1), produce(2)])
  for (const partition of [0, 1, 2]) {
    const leader = await cluster.locate({ to: 'leader', topic, partition }, within(10_000))
    expect(leader.nodeId).not.toBe(victim.nodeId)
  }

  cluster.forget(coordinator)
  const after = await initProducer(cluster, transactionalId)
  expect((await cluster.locate(coordinator, within(10_000))).nodeId).not.toBe(victim.nodeId)
  expect(after).toEqual({ producerId: before.producerId, producerEpoch: before.producerEpoch + 1 })

  await kafka.nodes.find(({ id }) => id === victim.nodeId)?.restart()
})

test('a broker that is paused does not keep the others from answering', async () => {
  const paused = kafka.nodes[1]
  await paused?.kill('SIGSTOP')
  try {
    const fresh = clusterAt([...kafka.brokers.slice(1, 2), ...kafka.brokers])
    expect(await fresh.clusterId(within(6_000))).toBe(await cluster.clusterId(within(6_000)))
    expect((await fresh.topics([topic], within(6_000), 'fresh')).get(topic)?.partitions).toHaveLength(3)
    await fresh.close()
  } finally {
    await paused?.kill('SIGCONT')
  }
})
