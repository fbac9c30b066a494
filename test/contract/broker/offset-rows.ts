import { expect } from 'vitest'
import type { RequestOf } from '../../../lib/kafka/protocol/generated/index.ts'
import type { TopicPartition } from '../../../lib/kafka/record.ts'
import { commitWindow, type Define, join, openTransaction, type Scene } from './scene.ts'

/** Committed offsets: pending, stable, moved by other hands. */
export function offsetRows(it: Define): void {
  it('shows a pending offset to nobody, and says so only when stable ones are required', async (scene) => {
    const { client, generation, group, first } = scene
    const producer = await commitWindow(scene, await client.begin(scene.id), 100n)
    await join(scene, producer, [first])
    await client.settled(
      () => client.commitOffset(generation, producer, group, first, 200n),
      (code) => code,
    )
    expect(await client.committed(group, first, false)).toMatchObject({ code: 0, offset: 100n })
    expect(await client.committed(group, first, true)).toMatchObject({ code: 88, offset: -1n })
    await client.endAndWait(generation, producer, true)
    expect(await client.committedOffset(group, first)).toBe(200n)
  })

  it('drops the offset of an aborted transaction', async (scene) => {
    const { client, generation, group, first } = scene
    const producer = await openTransaction(scene)
    await client.endAndWait(generation, producer, false)
    expect(await client.committedOffset(group, first)).toBe(-1n)
  })

  it('answers none without error for a group or partition that nothing was committed for', async ({
    client,
    group,
    first,
  }) => {
    expect(await client.committed(group, first, true)).toEqual({ code: 0, offset: -1n, metadata: '' })
  })

  it('refuses metadata above its limit', async (scene) => {
    const { client, generation, group, first, id } = scene
    const producer = await client.begin(id)
    await join(scene, producer, [first])
    expect(await client.commitOffset(generation, producer, group, first, 1n, 'm'.repeat(4097))).toBe(12)
    expect(await client.commitOffset(generation, producer, group, first, 1n, 'm'.repeat(4096))).toBe(0)
  })

  it('refuses an offset of a transaction that the group was not added to', async ({
    client,
    group,
    first,
    id,
    generation,
  }) => {
    const producer = await client.begin(id)
    expect(await client.commitOffset(1, producer, group, first, 1n)).toBe(120)
    expect(await client.commitOffset(1, producer, group, first, 1n, '', 3)).toBe(48)
    if (generation === 2) expect(await client.commitOffset(2, producer, group, first, 1n)).toBe(0)
  })

  it('lets a plain commit overtake a pending one (P2)', async (scene) => {
    const { client, generation, group, first } = scene
    const producer = await openTransaction(scene, 100n)
    expect(await client.commitPlain(group, first, 5n)).toBe(0)
    await client.endAndWait(generation, producer, true)
    expect(await client.committed(group, first, true)).toEqual({ code: 0, offset: 5n, metadata: '' })
  })

  it('commits nothing when the offset is deleted while it is pending (P2)', async (scene) => {
    const { client, generation, group, first } = scene
    const producer = await openTransaction(scene)
    const topics = [{ name: first.topic, partitions: [{ partitionIndex: first.partition }] }]
    const deleted = await client.ask({ to: 'group-coordinator', key: group }, 'OffsetDelete', {
      groupId: group,
      topics,
    })
    expect([deleted.errorCode, deleted.topics[0]?.partitions[0]?.errorCode]).toEqual([0, 0])
    await client.endAndWait(generation, producer, true)
    expect(await client.committed(group, first, true)).toEqual({ code: 0, offset: -1n, metadata: '' })
  })

  it('commits nothing when the group is deleted while an offset is pending (P2)', async (scene) => {
    const { client, generation, group, first } = scene
    const producer = await commitWindow(scene, await client.begin(scene.id), 100n)
    await join(scene, producer, [first])
    await client.settled(
      () => client.commitOffset(generation, producer, group, first, 200n),
      (code) => code,
    )
    const { results } = await client.ask({ to: 'group-coordinator', key: group }, 'DeleteGroups', {
      groupsNames: [group],
    })
    expect(results.map(({ errorCode }) => errorCode)).toEqual([0])
    await client.endAndWait(generation, producer, true)
    expect(await client.committed(group, first, true)).toEqual({ code: 0, offset: -1n, metadata: '' })
  })

  it('does not know a group that was never used', async ({ client, group, first }) => {
    const key = { to: 'group-coordinator', key: group } as const
    expect((await client.ask(key, 'DeleteGroups', { groupsNames: [group] })).results[0]?.errorCode).toBe(69)
    const topics = [{ name: first.topic, partitions: [{ partitionIndex: first.partition }] }]
    expect((await client.ask(key, 'OffsetDelete', { groupId: group, topics })).errorCode).toBe(69)
  })

  it('describes a group without members as empty', async ({ client, group, first }) => {
    const describe = async () => {
      const body = { groups: [group], includeAuthorizedOperations: false }
      const [found] = (await client.ask({ to: 'group-coordinator', key: group }, 'DescribeGroups', body)).groups
      return found?.groupState
    }
    expect(await describe()).toBe('Dead')
    await client.commitPlain(group, first, 1n)
    expect(await describe()).toBe('Empty')
  })

  it('refuses a commit in the name of a member', async ({ client, group, first }) => {
    const commit = async (over: Partial<RequestOf<'OffsetCommit'>>) => {
      const partitions = [{ partitionIndex: 0, committedOffset: 1n, committedMetadata: '' }]
      const body = { groupId: group, topics: [{ name: first.topic, partitions }], ...over }
      return (await client.ask({ to: 'group-coordinator', key: group }, 'OffsetCommit', body)).topics[0]?.partitions[0]
        ?.errorCode
    }
    expect(await commit({ generationIdOrMemberEpoch: 3, memberId: 'nobody' })).toSatisfy(
      (code) => code === 22 || code === 69,
    )
    expect(await commit({})).toBe(0)
    expect(await commit({ generationIdOrMemberEpoch: 3, memberId: 'nobody' })).toBe(25)
  })

  it('lists all offsets of a group when asked for none in particular', async ({ client, group, first, second }) => {
    await client.commitPlain(group, first, 1n, 'one')
    await client.commitPlain(group, second, 2n)
    const body = { groups: [{ groupId: group, topics: null }], requireStable: true }
    const [found] = (await client.ask({ to: 'group-coordinator', key: group }, 'OffsetFetch', body)).groups
    const offsets = found?.topics[0]?.partitions.map(({ partitionIndex, committedOffset }) => [
      partitionIndex,
      committedOffset,
    ])
    expect(offsets?.sort()).toEqual([
      [0, 1n],
      [1, 2n],
    ])
  })

  it('forgets the offsets of a topic that is deleted', async (scene) => {
    const { client, group, first, topic } = scene
    await client.commitPlain(group, first, 3n)
    await deleteTopic(scene, topic)
    await client.until(async () => (await committedOf(scene, first)) === -1n)
  })
}

async function committedOf({ client, group }: Scene, of: TopicPartition) {
  return (await client.committed(group, of, true)).offset
}

async function deleteTopic({ client }: Scene, name: string): Promise<void> {
  const topics = [{ name, topicId: '00000000-0000-0000-0000-000000000000' }]
  const { responses } = await client.ask({ to: 'any' }, 'DeleteTopics', { topics, timeoutMs: 10_000 })
  expect(responses.map(({ errorCode }) => errorCode)).toEqual([0])
}
