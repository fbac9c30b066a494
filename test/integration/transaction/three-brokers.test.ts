import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemRandom } from '../../../lib/clock.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { openSession } from '../../../lib/transaction/open-session.ts'
import { askExCoordinator } from '../../helpers/ex-coordinator.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { batches, failureOf, laneOn, offsetOf, openReady, type TestLane, valuesIn } from '../../helpers/sessions.ts'
import { createTopic } from '../../helpers/topics.ts'
import { skipsStepNine } from '../../sim/controls/skips-step-nine.ts'

describe('a session on three brokers of Kafka 4.1', () => {
  let dataDir: string
  let kafka: KafkaHandle
  let cluster: Cluster
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'fencepost-three-'))
    kafka = await startKafka({ version: '4.1', nodes: 3, dataDir, heapMb: 384 })
    cluster = clusterAt(kafka.brokers)
  })
  afterAll(async () => {
    await cluster?.close()
    await kafka?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  test('commits over several leaders; when one dies between joining and sending, its successor takes the batches: one copy each', {
    timeout: 120_000,
  }, async () => {
    const topic = await createTopic(kafka.brokers, 'spread', { partitions: 6, replicationFactor: 3 })
    const lane = laneOn(topic)
    const partitions = Array.from({ length: 6 }, (_, partition) => ({ topic, partition }))
    const session = await openReady(cluster, lane)
    for (let round = 1; round <= 4; round++) {
      await session.begin(partitions, within(60_000))
      const victim = round === 3 ? await leaderOf(cluster, topic, 0, kafka) : null
      await victim?.kill('SIGKILL')
      const sends = partitions.map(({ partition }) =>
        session.send([batches(topic, partition, [`${round}a`], [`${round}b`])], within(60_000)),
      )
      await Promise.all([...sends, session.sendOffsets([offsetOf(lane, round)], within(60_000))])
      await session.commit(within(60_000))
      if (round === 3) await victim?.restart()
    }
    expect(session.protocol).toBe(2)
    const next = await openReady(cluster, lane)
    expect(await next.readCommitted([lane.source], within(30_000))).toMatchObject([{ offset: 4n }])
    const expected = [1, 2, 3, 4].flatMap((round) => [`${round}a`, `${round}b`])
    for (const { partition } of partitions) expect(await valuesIn(cluster, topic, partition)).toEqual(expected)
  })

  test('a paused ex-coordinator answers with an old offset and no error: step 9 finds it out before the commit (P1)', {
    timeout: 120_000,
  }, async () => {
    const { told, failure, visible } = await askExCoordinator(kafka)
    expect(told).toBe(1n)
    expect(failure).toMatchObject({ code: 'OFFSETS_DISAGREE', disposition: 'reopen', outcome: 'not-applied' })
    expect(visible).toEqual(['one', 'two'])
  })

  test('without step 9 it would not, and the window would be there twice (P1)', { timeout: 120_000 }, async () => {
    expect(await askExCoordinator(kafka, skipsStepNine.cluster)).toEqual({
      told: 1n,
      failure: null,
      visible: ['one', 'two', 'two'],
    })
  })

  test('a barrier behind a transaction whose output partition is offline names that partition, and passes when it is back (P15)', {
    timeout: 120_000,
  }, async () => {
    const config = { 'min.insync.replicas': '1' }
    const topic = await createTopic(kafka.brokers, 'offline', { replicationFactor: 1, config })
    const victim = await leaderOf(cluster, topic, 0, kafka)
    const lane = await laneApartFrom(cluster, topic, victim.id)
    const session = await openReady(cluster, lane)
    await session.begin([{ topic, partition: 0 }], within(60_000))
    await session.send([batches(topic, 0, ['dropped'])], within(60_000))
    await victim.kill('SIGKILL')
    const failure = await failureOf(openSession(cluster, lane, systemRandom, within(10_000)))
    expect(failure).toMatchObject({ code: 'BARRIER_STUCK', disposition: 'retry' })
    expect(failure.message).toContain(`${topic}-0`)
    // That of the group may still wait, until the dead broker is no longer in sync with it.
    const partitions = expect.arrayContaining([`${topic}-0`])
    expect(failure.context).toMatchObject({ state: 'PrepareAbort', partitions })
    await victim.restart()
    await openSession(cluster, lane, systemRandom, within(60_000))
    expect(await valuesIn(cluster, topic)).toEqual([])
  })
})

/** A lane whose two coordinators do not live on the broker that will be killed. */
async function laneApartFrom(cluster: Cluster, topic: string, nodeId: number): Promise<TestLane> {
  for (;;) {
    const lane = laneOn(topic)
    const roles = [
      { to: 'transaction-coordinator', key: lane.transactionalId },
      { to: 'group-coordinator', key: lane.group },
    ] as const
    const nodes = await Promise.all(roles.map((role) => cluster.locate(role, within(10_000))))
    if (nodes.every((node) => node.nodeId !== nodeId)) return lane
  }
}

async function leaderOf(cluster: Cluster, topic: string, partition: number, kafka: KafkaHandle) {
  const leader = await cluster.locate({ to: 'leader', topic, partition }, within(10_000))
  const found = kafka.nodes.find((node) => node.id === leader.nodeId)
  if (found === undefined) throw new Error(`no node ${leader.nodeId}`)
  return found
}
