/** A group coordinator that stands still, is replaced, and goes on without having heard of it (P1). */
import { expect } from 'vitest'
import { systemClock, systemRandom } from '../../lib/clock.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import { fetchCommitted } from '../../lib/kafka/committed.ts'
import type { KafkaHandle } from '../../lib/local/kafka.ts'
import type { KafkaNode } from '../../lib/local/kafka-node.ts'
import { openSession } from '../../lib/transaction/open-session.ts'
import { clusterAt, within } from './kafka-client.ts'
import { laneOn, openReady, settledOffset, type TestLane, valuesIn, window } from './sessions.ts'
import { createTopic } from './topics.ts'

export interface Overtaken {
  /** What the successor was told behind its barrier. */
  readonly told: bigint | null | undefined
  /** Why it could not commit its window; null: it could. */
  readonly failure: unknown
  /** What a reader sees then. */
  readonly visible: readonly string[]
}

/**
 * Window two is committed while the group's coordinator stands still; then a successor asks it, over a connection that it
 * has had before, where the lane stands, and relays what it takes for window two.
 */
export async function askExCoordinator(
  kafka: KafkaHandle,
  broken: (cluster: Cluster) => Cluster = (cluster) => cluster,
): Promise<Overtaken> {
  const cluster = clusterAt(kafka.brokers)
  const old = clusterAt(kafka.brokers)
  const { lane, topic, node } = await laneApart(kafka, cluster)
  try {
    await window(await openReady(cluster, lane), lane, topic, ['one'], 1)
    expect(await settledOffset(old, lane)).toBe(1)
    await node.kill('SIGSTOP')
    await untilReplaced(cluster, lane, node.id)
    await window(await openReady(cluster, lane), lane, topic, ['two'], 2)
    const session = await openSession(broken(old), lane, systemRandom, within(30_000))
    const asked = session.readCommitted([lane.source], within(30_000))
    await systemClock.sleep(50) // on its way, and answered by nobody
    const told = (await answeredAlone(kafka, node, asked))[0]?.offset
    const failure = await window(session, lane, topic, ['two'], 2).then(
      () => null,
      (error) => error,
    )
    await session.abort(within(10_000))
    await openReady(cluster, lane) // behind all markers
    return { told, failure, visible: await valuesIn(cluster, topic) }
  } finally {
    await node.kill('SIGCONT')
    await Promise.all([cluster.close(), old.close()])
  }
}

/** What `node` answers before anyone can tell it that it was replaced: the others stand still meanwhile. */
async function answeredAlone<T>(kafka: KafkaHandle, node: KafkaNode, asked: Promise<T>): Promise<T> {
  const others = kafka.nodes.filter((other) => other !== node)
  await Promise.all(others.map((other) => other.kill('SIGSTOP')))
  await node.kill('SIGCONT')
  try {
    return await asked
  } finally {
    await Promise.all(others.map((other) => other.kill('SIGCONT')))
  }
}

/** A lane whose group is coordinated by a broker that has no other part in it. */
async function laneApart(kafka: KafkaHandle, cluster: Cluster) {
  for (;;) {
    const topic = await createTopic(kafka.brokers, 'apart', { replicationFactor: 3 })
    const lane = laneOn(topic)
    const [group, ...others] = await Promise.all([
      cluster.locate({ to: 'group-coordinator', key: lane.group }, within(10_000)),
      cluster.locate({ to: 'transaction-coordinator', key: lane.transactionalId }, within(10_000)),
      cluster.locate({ to: 'leader', topic, partition: 0 }, within(10_000)),
    ])
    const node = kafka.nodes.find(({ id }) => id === group.nodeId)
    if (node !== undefined && others.every(({ nodeId }) => nodeId !== node.id)) return { lane, topic, node }
  }
}

async function untilReplaced(cluster: Cluster, { group, source }: TestLane, by: number): Promise<void> {
  const target = { to: 'group-coordinator', key: group } as const
  for (const deadline = within(60_000); deadline.remainingMs() > 0; await systemClock.sleep(200)) {
    cluster.forget(target)
    const now = await cluster.locate(target, within(10_000)).catch(() => null)
    if (now === null || now.nodeId === by) continue
    const question = { group, partitions: [source], requireStable: true }
    const answers = await fetchCommitted(cluster, question, within(5_000)).catch(() => [])
    if (answers.some((answer) => 'offset' in answer)) return
  }
  throw new Error('nobody took the group over')
}
