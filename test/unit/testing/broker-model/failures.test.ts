import { describe, expect, it } from 'vitest'
import { commitWindow, history, openTransaction } from '../../../contract/broker/scene.ts'
import { bench } from './fixture.ts'

describe('nodes that fail', () => {
  it('spreads leaders over the nodes and answers only for what a node leads', async () => {
    const { run, client, model, first } = await bench({ nodes: 3 })
    const leaders = model.topics.find(first.topic)?.partitions.map(({ leader }) => leader)
    expect(new Set(leaders).size).toBe(2)
    const other = model.nodes.find(({ id }) => id !== leaders?.[0])
    if (other === undefined) throw new Error('three nodes were asked for')
    const topics = [{ name: first.topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }]
    const body = { replicaId: -1, isolationLevel: 0, topics }
    const answer = await run(client.ask({ to: 'node', node: other.address }, 'ListOffsets', body))
    expect(answer.topics[0]?.partitions[0]?.errorCode).toBe(6)
  })

  it('answers 16 where a key is not coordinated', async () => {
    const { run, client, model, group, first } = await bench({ nodes: 3 })
    const other = model.nodes.find(({ id }) => id !== model.groupPartition(group).leader)
    if (other === undefined) throw new Error('three nodes were asked for')
    const topics = [{ name: first.topic, partitionIndexes: [0] }]
    const body = { groups: [{ groupId: group, topics }], requireStable: true }
    const answer = await run(client.ask({ to: 'node', node: other.address }, 'OffsetFetch', body))
    expect(answer.groups[0]?.errorCode).toBe(16)
  })

  it('lets another replica lead when a node dies, with a higher epoch', async () => {
    const { run, client, model, first } = await bench({ nodes: 3 })
    const partition = model.topics.partition(first.topic, 0)
    if (partition?.leader == null) throw new Error('the topic has a leader')
    const died = partition.leader
    model.stopNode(died)
    expect(partition.leader).not.toBe(died)
    expect(partition.leaderEpoch).toBe(1)
    await run(client.cluster.topics([first.topic], deadline(client), 'fresh'))
    expect((await run(client.listOffset(first, -1n, 1, 0))).code).toBe(74)
    expect((await run(client.listOffset(first, -1n, 1, 1))).code).toBe(0)
  })

  it('keeps a transaction waiting for the marker of a partition that is offline, and 51 with it', async () => {
    const scene = await bench({ nodes: 2 })
    const { run, client, model, first, id } = scene
    const lonely = { topic: 'lonely', partition: 0 }
    model.createTopic({ name: lonely.topic, partitions: 1, replicationFactor: 1 })
    const home = model.topics.partition(lonely.topic, 0)?.leader
    if (home == null) throw new Error('the topic has a leader')
    const keepsCoordinators = [
      model.transactionPartition(id),
      model.groupPartition(scene.group),
      model.topics.partition(first.topic, 0),
    ]
    for (const partition of keepsCoordinators)
      if (partition?.leader === home) model.moveLeader(partition, home === 1 ? 2 : 1)

    const producer = await run(client.begin(id))
    expect((await run(client.produce(2, producer, lonely))).code).toBe(0)
    model.stopNode(home)
    expect((await run(client.end(2, producer, true))).code).toBe(0)
    expect((await run(client.init(id))).code).toBe(51)
    expect((await run(client.transaction(id))).topics).toEqual([{ topic: lonely.topic, partitions: [0] }])
    model.startNode(home)
    await run(client.untilCompleted(id))
    await run(client.cluster.topics([lonely.topic], deadline(client), 'fresh'))
    expect(await run(history(scene, lonely))).toEqual(['value', '(commit)'])
  })

  it('refuses writes while too few replicas are in sync', async () => {
    const { run, client, model } = await bench({ nodes: 3 })
    const topic = 'careful'
    model.createTopic({ name: topic, partitions: 1, configs: { 'min.insync.replicas': '3' } })
    expect((await run(client.producePlain({ topic, partition: 0 }))).code).toBe(0)
    model.stopNode(3)
    await run(client.cluster.topics([topic], deadline(client), 'fresh'))
    expect((await run(client.producePlain({ topic, partition: 0 }))).code).toBe(19)
  })

  it('lets a paused ex-coordinator answer with the offset that it knew (P1)', async () => {
    const scene = await bench({ nodes: 3 })
    const { run, client, another, model, group, first, id } = scene
    const successor = another()
    const producer = await run(commitWindow(scene, await run(client.begin(id)), 100n))
    const offsets = model.groupPartition(group)
    const ex = offsets.leader
    if (ex === null) throw new Error('the group has a coordinator')
    await run(client.committed(group, first, true))

    model.pauseNode(ex, 'replaced')
    const elsewhere = { ...scene, client: successor }
    await run(commitWindow(elsewhere, { ...producer }, 200n))
    expect(await run(successor.committedOffset(group, first))).toBe(200n)

    model.resumeNode(ex)
    expect(await run(client.committed(group, first, true))).toMatchObject({ code: 0, offset: 100n })
    expect(await run(client.committed(group, first, false))).toMatchObject({ code: 0, offset: 100n })
    expect(await run(client.commitOffset(2, producer, group, first, 300n))).toBe(16)
    model.catchUp(ex)
    expect((await run(client.committed(group, first, true))).code).toBe(16)
  })

  it('lets a paused ex-leader answer with the end that it knew, and call the true position out of range (P1)', async () => {
    const { run, client, another, model, first } = await bench({ nodes: 3 })
    const successor = another()
    await run(client.producePlain(first, { values: ['a', 'b'] }))
    const partition = model.topics.partition(first.topic, 0)
    if (partition?.leader == null) throw new Error('the topic has a leader')
    const ex = partition.leader
    model.pauseNode(ex, 'replaced')
    await run(successor.producePlain(first, { values: ['c', 'd'] }))
    model.resumeNode(ex)
    expect((await run(client.listOffset(first, -1n, 1))).offset).toBe(2n)
    expect((await run(client.fetch(first, 4n))).errorCode).toBe(1)
    expect((await run(client.fetch(first, 2n))).records?.length).toBe(0)
    expect((await run(client.producePlain(first))).code).toBe(6)
    expect((await run(successor.listOffset(first, -1n, 1))).offset).toBe(4n)
  })

  it('does not time out the transactions of a coordinator that stands still', async () => {
    const scene = await bench({ nodes: 2 })
    const { run, client, clock, model, id } = scene
    await run(openTransaction(scene))
    const coordinator = model.transactionPartition(id).leader
    if (coordinator === null) throw new Error('the id has a coordinator')
    model.pauseNode(coordinator)
    await clock.advance(120_000)
    model.runScans()
    model.resumeNode(coordinator)
    expect((await run(client.transaction(id))).transactionState).toBe('Ongoing')
    await clock.advance(10_000)
    expect((await run(client.transaction(id))).transactionState).toBe('CompleteAbort')
  })
})

const deadline = ({ clock }: { clock: { now(): number } }) => {
  const atMs = clock.now() + 10_000
  return { atMs, remainingMs: () => atMs - clock.now() }
}
