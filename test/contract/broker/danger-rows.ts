import { expect } from 'vitest'
import type { Producer } from './client.ts'
import { commitWindow, type Define, history, nextEpoch, openTransaction, type Scene, writeWindow } from './scene.ts'

/** What a broker allows although it can cost records: the reason for rules R2, R5, R11 and R16. */
export function dangerRows(it: Define): void {
  it('lets a late copy of an offset commit into the next transaction of the older protocol only (P3)', async (scene) => {
    const { client, generation, first, group } = scene
    const windowOne = await client.begin(scene.id)
    const windowTwo = await commitWindow(scene, windowOne, 100n)
    await writeWindow(scene, windowTwo, 200n, generation === 2 ? 0 : 1)
    expect(await client.commitOffset(generation, windowOne, group, first, 100n)).toBe(generation === 2 ? 47 : 0)
    await client.endAndWait(generation, windowTwo, true)
    expect(await client.committedOffset(group, first)).toBe(generation === 2 ? 200n : 100n)
  })

  it('lets a late EndTxn end the next transaction of the older protocol only (P3)', async (scene) => {
    const { client, generation, first } = scene
    const windowOne = await client.begin(scene.id)
    const windowTwo = await commitWindow(scene, windowOne, 100n)
    await writeWindow(scene, windowTwo, 200n, generation === 2 ? 0 : 1)
    expect((await client.end(generation, windowOne, true)).code).toBe(generation === 2 ? 90 : 0)
    if (generation === 2) expect((await client.transaction(scene.id)).transactionState).toBe('Ongoing')
    else await client.untilCompleted(scene.id)
    const end = generation === 2 ? [] : ['(commit)']
    expect(await history(scene, first)).toEqual(['window 100', '(commit)', 'window 200', ...end])
  })

  it('drops the offsets of a session for a late request of the one that it fenced, if the coordinator is the classic one (P3)', async (scene) => {
    const { client, generation, coordinator, id, first, group } = scene
    const windowOne = await client.begin(id)
    await commitWindow(scene, windowOne, 100n)
    const successor = await client.begin(id)
    await writeWindow(scene, successor, 200n)
    expect((await client.committed(group, first, true)).code).toBe(88)
    expect(await client.commitOffset(generation, windowOne, group, first, 100n)).toBe(47)
    expect((await client.committed(group, first, true)).code).toBe(coordinator === 'classic' ? 0 : 88)
    await client.endAndWait(generation, successor, true)
    expect(await client.committedOffset(group, first)).toBe(coordinator === 'classic' ? 100n : 200n)
  })

  it('brings a fenced session back to life by its abort, with transaction.version 2 (P4)', async (scene) => {
    const { client, generation, id, first } = scene
    const fenced = await openTransaction(scene)
    expect((await client.init(id)).code).toBe(51)
    await client.untilCompleted(id)
    const ended = await client.end(generation, fenced, false)
    if (generation === 1) {
      expect(ended.code).toBe(90)
      return
    }
    const revived = nextEpoch(fenced)
    expect(ended).toEqual({ code: 0, producerId: revived.producerId, producerEpoch: revived.producerEpoch })
    expect((await client.produce(2, revived, first)).code).toBe(0)
  })

  it("writes an operator's marker into a live transaction, whose commit then lacks those records (P9)", async (scene) => {
    const { client, generation, first, group } = scene
    const producer = await openTransaction(scene)
    expect(await writeAbortMarker(scene, producer)).toBe(0)
    await client.endAndWait(generation, producer, true)
    expect(await client.committedOffset(group, first)).toBe(100n)
    expect(await history(scene, first)).toEqual(['window 100', '(abort)', '(commit)'])
    expect((await client.fetch(first, 0n)).abortedTransactions).toEqual([
      { producerId: producer.producerId, firstOffset: 0n },
    ])
  })

  it('answers a resend of a commit with "fenced" once a successor is in, although it was committed (P6)', async (scene) => {
    const { client, generation, group, first, id } = scene
    const producer = await openTransaction(scene)
    await client.endAndWait(generation, producer, true)
    await client.begin(id)
    expect((await client.end(generation, producer, true)).code).toBe(90)
    expect(await client.committedOffset(group, first)).toBe(100n)
  })

  it('shows operators the open transaction: its id, its producer, its partitions, where it began', async (scene) => {
    const { client, id, first, group } = scene
    await client.producePlain(first)
    const producer = await openTransaction(scene)
    const { producerId, producerEpoch } = producer
    const described = await client.transaction(id)
    expect(described).toMatchObject({
      errorCode: 0,
      transactionState: 'Ongoing',
      producerId,
      producerEpoch,
      transactionTimeoutMs: 60_000,
    })
    expect(described.topics.map(({ topic }) => topic).sort()).toEqual(['__consumer_offsets', first.topic].sort())

    const listed = await client.ask({ to: 'transaction-coordinator', key: id }, 'ListTransactions', {
      stateFilters: ['Ongoing', 'Nonsense'],
      producerIdFilters: [producerId],
    })
    expect(listed.transactionStates).toEqual([{ transactionalId: id, producerId, transactionState: 'Ongoing' }])
    expect(listed.unknownStateFilters).toEqual(['Nonsense'])

    const topics = [{ name: first.topic, partitionIndexes: [0] }]
    const [active] =
      (await client.ask({ to: 'leader', ...first }, 'DescribeProducers', { topics })).topics[0]?.partitions[0]
        ?.activeProducers ?? []
    expect(active).toMatchObject({ producerId, producerEpoch, lastSequence: 0, currentTxnStartOffset: 1n })
    expect((await client.committed(group, first, true)).code).toBe(88)
  })

  it('does not know a transactional id that was never used', async ({ client, freshName }) => {
    expect((await client.transaction(freshName('nobody'))).errorCode).toBe(105)
  })
}

async function writeAbortMarker({ client, first }: Scene, producer: Producer): Promise<number | undefined> {
  const topics = [{ name: first.topic, partitionIndexes: [first.partition] }]
  const { producerId, producerEpoch } = producer
  const markers = [{ producerId, producerEpoch, transactionResult: false, topics, coordinatorEpoch: 0 }]
  const answer = await client.ask({ to: 'leader', ...first }, 'WriteTxnMarkers', { markers })
  return answer.markers[0]?.topics[0]?.partitions[0]?.errorCode
}
