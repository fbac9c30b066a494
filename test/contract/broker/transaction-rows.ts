import { expect } from 'vitest'
import { commitWindow, type Define, history, join, nextEpoch, openTransaction, writeWindow } from './scene.ts'

/** One transactional id, its producer, its transactions. */
export function transactionRows(it: Define): void {
  it('takes a window of several partitions and the offset', async (scene) => {
    const { client, generation, first, second, group, id } = scene
    const producer = await client.begin(id)
    await join(scene, producer, [first, second])
    const answers = await Promise.all([
      client.produce(generation, producer, first),
      client.produce(generation, producer, second),
      client.settled(
        () => client.commitOffset(generation, producer, group, first, 7n, 'mine'),
        (code) => code,
      ),
    ])
    expect(answers).toEqual([{ code: 0, baseOffset: 0n }, { code: 0, baseOffset: 0n }, 0])

    await client.endAndWait(generation, producer, true)
    expect(await client.committed(group, first, true)).toEqual({ code: 0, offset: 7n, metadata: 'mine' })
    expect(await history(scene, second)).toEqual(['value', '(commit)'])
  })

  it('refuses to write into a topic that does not exist', async ({ client, generation, id, missing, group }) => {
    const producer = await client.begin(id)
    expect((await client.produce(generation, producer, missing)).code).toBe(3)
    expect(await client.commitOffset(generation, producer, group, missing, 1n)).toBe(3)
    expect(await client.addPartitions(producer, missing)).toEqual([3])
  })

  it('refuses all partitions when one of them does not exist', async ({ client, id, first, missing }) => {
    const producer = await client.begin(id)
    expect((await client.addPartitions(producer, first, missing)).toSorted()).toEqual([3, 55])
    expect((await client.transaction(id)).topics).toEqual([])
  })

  it('ends an open transaction before it lets a successor in', async (scene) => {
    const { client, id, first } = scene
    const old = await openTransaction(scene)
    expect(await client.init(id)).toMatchObject({ code: 51, producerId: -1n, producerEpoch: -1 })
    const next = await client.begin(id)
    expect(next).toEqual({ ...old, producerEpoch: old.producerEpoch + 2 })
    expect(await history(scene, first)).toEqual(['window 100', '(abort)'])
  })

  it('fences the session before', async (scene) => {
    const { client, generation, id, first, second, group } = scene
    const old = await openTransaction(scene)
    await client.begin(id)
    expect((await client.produce(generation, old, first, { sequence: 1 })).code).toBe(47)
    expect((await client.produce(generation, old, second)).code).toBe(47)
    expect(await client.commitOffset(generation, old, group, first, 200n)).toBe(47)
    expect((await client.end(generation, old, true)).code).toBe(90)
    expect((await client.end(generation, old, false)).code).toBe(90)
    expect(await client.addPartitions(old, second)).toEqual([90])
    expect(await client.addOffsets(old, group)).toBe(90)
  })

  it('answers EndTxn with who the producer is from then on', async (scene) => {
    const { client, generation } = scene
    const producer = await openTransaction(scene)
    const ended = await client.end(generation, producer, true)
    const { producerId, producerEpoch } = nextEpoch(producer)
    expect(ended).toEqual(
      generation === 2 ? { code: 0, producerId, producerEpoch } : { code: 0, producerId: -1n, producerEpoch: -1 },
    )
  })

  it('goes on with the next window', async (scene) => {
    const { client, generation, first, group } = scene
    const producer = await commitWindow(scene, await client.begin(scene.id), 100n)
    await commitWindow(scene, producer, 200n, generation === 2 ? 0 : 1)
    expect(await client.committedOffset(group, first)).toBe(200n)
    expect(await history(scene, first)).toEqual(['window 100', '(commit)', 'window 200', '(commit)'])
  })

  it('takes the first write of a transaction right after the end of the last one', async (scene) => {
    const { client, generation, first } = scene
    const producer = await openTransaction(scene)
    const ended = await client.end(generation, producer, true)
    if (generation === 2) {
      const next = { ...producer, producerEpoch: ended.producerEpoch }
      expect((await client.produce(2, next, first)).code).toBe(0)
    } else {
      const joined = await client.settled(
        () => client.addPartitions(producer, first),
        ([code]) => code,
      )
      expect(joined).toEqual([0])
      expect((await client.produce(1, producer, first, { sequence: 1 })).code).toBe(0)
    }
  })

  it('answers the same EndTxn again with "still at it" or yes', async (scene) => {
    const { client, generation } = scene
    const producer = await openTransaction(scene)
    const ended = await client.end(generation, producer, true)
    const again = await client.end(generation, producer, true)
    expect([0, 51]).toContain(again.code)
    await client.untilCompleted(scene.id)
    expect(await client.end(generation, producer, true)).toEqual(ended)
  })

  it('refuses to turn a commit into an abort', async (scene) => {
    const { client, generation } = scene
    const producer = await openTransaction(scene)
    await client.endAndWait(generation, producer, true)
    expect((await client.end(generation, producer, false)).code).toBe(48)
  })

  it('ends nothing when nothing is open', async (scene) => {
    const { client, generation, id } = scene
    const fresh = await client.begin(id)
    expect((await client.end(generation, fresh, true)).code).toBe(48)
    if (generation === 1) {
      expect((await client.end(1, fresh, false)).code).toBe(48)
      const used = await commitWindow(scene, fresh, 1n)
      expect((await client.end(1, used, true)).code).toBe(0)
      expect((await client.end(1, used, false)).code).toBe(48)
      return
    }
    const used = await commitWindow(scene, fresh, 1n)
    expect((await client.end(2, used, true)).code).toBe(48)
    const { producerId, producerEpoch } = nextEpoch(used)
    expect(await client.end(2, used, false)).toEqual({ code: 0, producerId, producerEpoch })
  })

  it('bumps the epoch for an abort of nothing after InitProducerId', async ({ client, generation, id }) => {
    const producer = await client.begin(id)
    const ended = await client.end(generation, producer, false)
    const { producerId, producerEpoch } = nextEpoch(producer)
    expect(ended).toEqual(
      generation === 2 ? { code: 0, producerId, producerEpoch } : { code: 48, producerId: -1n, producerEpoch: -1 },
    )
  })

  it('stores a resent batch once and answers with its offset', async (scene) => {
    const { client, generation, first, id } = scene
    const producer = await client.begin(id)
    await join(scene, producer, [first])
    const batch = { values: ['a', 'b', 'c'] }
    expect(await client.produce(generation, producer, first, batch)).toEqual({ code: 0, baseOffset: 0n })
    expect(await client.produce(generation, producer, first, { sequence: 3 })).toEqual({ code: 0, baseOffset: 3n })
    expect(await client.produce(generation, producer, first, batch)).toEqual({ code: 0, baseOffset: 0n })
    expect(await history(scene, first)).toEqual(['a', 'b', 'c', 'value'])
  })

  it('recognises a resend among the last five batches only', async (scene) => {
    const { client, generation, first, id } = scene
    const producer = await client.begin(id)
    await join(scene, producer, [first])
    for (let sequence = 0; sequence < 6; sequence++) await client.produce(generation, producer, first, { sequence })
    expect(await client.produce(generation, producer, first, { sequence: 1 })).toEqual({ code: 0, baseOffset: 1n })
    expect(await client.produce(generation, producer, first, { sequence: 0 })).toEqual({
      code: 45,
      baseOffset: noOffset,
    })
  })

  it('refuses a gap in the sequence', async (scene) => {
    const { client, generation, first, id } = scene
    const producer = await client.begin(id)
    await join(scene, producer, [first])
    await client.produce(generation, producer, first)
    expect(await client.produce(generation, producer, first, { sequence: 2 })).toEqual({
      code: 45,
      baseOffset: noOffset,
    })
  })

  it('lets only the older requests begin with any sequence', async (scene) => {
    const { client, generation, first, id } = scene
    const producer = await client.begin(id)
    await join(scene, producer, [first])
    const begun = await client.produce(generation, producer, first, { sequence: 5 })
    expect(begun.code).toBe(generation === 2 ? 45 : 0)
    expect((await client.produce(generation, producer, first)).code).toBe(generation === 2 ? 0 : 45)
  })

  it('counts sequences modulo 2^31, also inside a batch', async (scene) => {
    const { client, first, id } = scene
    const producer = await client.begin(id)
    await client.addPartitions(producer, first)
    const values = ['a', 'b', 'c']
    expect((await client.produce(1, producer, first, { sequence: 2 ** 31 - 2, values })).code).toBe(0)
    expect((await client.produce(1, producer, first, { sequence: 1 })).code).toBe(0)
    expect((await client.produce(1, producer, first, { sequence: 2 })).code).toBe(0)
  })

  it('refuses whoever it does not know', async ({ client, generation, id, first, group, freshName }) => {
    const producer = await client.begin(id)
    const wrong = { ...producer, producerId: producer.producerId + 1_000_000n }
    expect((await client.produce(generation, wrong, first)).code).toBe(49)
    expect(await client.commitOffset(generation, wrong, group, first, 1n)).toBe(49)
    expect((await client.end(generation, wrong, true)).code).toBe(49)
    const unknown = { ...producer, transactionalId: freshName('nobody') }
    expect((await client.produce(generation, unknown, first)).code).toBe(49)
    expect((await client.end(generation, unknown, true)).code).toBe(49)
    expect(await client.addPartitions(unknown, first)).toEqual([49])
  })

  it('refuses an epoch that is ahead', async ({ client, generation, id, first }) => {
    const ahead = nextEpoch(await client.begin(id))
    expect((await client.produce(generation, ahead, first)).code).toBe(47)
    expect((await client.end(generation, ahead, true)).code).toBe(90)
  })

  it('refuses a transaction timeout above its maximum', async ({ client, id }) => {
    expect(await client.init(id, 900_001)).toMatchObject({ code: 50, producerId: -1n, producerEpoch: -1 })
  })

  it('refuses a batch that is too large, and only that', async (scene) => {
    const { client, generation, first, second, id } = scene
    const producer = await client.begin(id)
    await join(scene, producer, [first])
    const values = ['x'.repeat(1_100_000)]
    expect((await client.produce(generation, producer, first, { values })).code).toBe(10)
    expect((await client.produce(generation, producer, second, { values })).code).toBe(generation === 2 ? 10 : 120)
    expect((await client.produce(generation, producer, first)).code).toBe(0)
  })

  it('does not take a late write of a transaction that is over', async (scene) => {
    const { client, generation, first, second, group } = scene
    const producer = await openTransaction(scene)
    await client.endAndWait(generation, producer, false)
    const code = generation === 2 ? 47 : 120
    expect((await client.produce(generation, producer, first, { sequence: 1 })).code).toBe(code)
    expect((await client.produce(generation, producer, second)).code).toBe(code)
    expect(await client.commitOffset(generation, producer, group, first, 200n)).toBe(code)
    expect(await client.committedOffset(group, first)).toBe(noOffset)
  })

  it('continues with a known producer id and epoch, and fences whoever brings an older one', async (scene) => {
    const { client, id } = scene
    const producer = await client.begin(id)
    const bumped = await client.init(id, 60_000, producer)
    expect(bumped).toEqual({ code: 0, producerId: producer.producerId, producerEpoch: producer.producerEpoch + 1 })
    expect(await client.init(id, 60_000, producer)).toEqual(bumped)
    await client.begin(id)
    expect((await client.init(id, 60_000, producer)).code).toBe(90)
  })

  it('aborts a transaction whose time is up, and fences its producer', async (scene) => {
    const { client, generation, first, group, freshName } = scene
    const actors = ['produce', 'offsets', 'commit', 'abort'].map((name) => ({ ...scene, id: freshName(name) }))
    const [produce, offsets, commit, abort] = await Promise.all(
      actors.map(async (actor) => {
        const producer = await client.begin(actor.id, 1_000)
        await writeWindow({ ...actor, group: freshName('group') }, producer, 1n)
        return producer
      }),
    )
    if (!produce || !offsets || !commit || !abort) throw new Error('four producers were begun')
    for (const { id } of actors)
      await client.until(async () => (await client.transaction(id)).transactionState === 'CompleteAbort', 30_000)

    expect((await client.produce(generation, produce, first, { sequence: 1 })).code).toBe(47)
    expect(await client.commitOffset(generation, offsets, group, first, 9n)).toBe(47)
    expect(await client.addPartitions(offsets, first)).toEqual([90])
    expect((await client.end(generation, commit, true)).code).toBe(generation === 2 ? 48 : 90)
    const { producerId, producerEpoch } = nextEpoch(abort)
    expect(await client.end(generation, abort, false)).toEqual(
      // P4: the abort of a session that timed out brings it back to life
      generation === 2 ? { code: 0, producerId, producerEpoch } : { code: 90, producerId: -1n, producerEpoch: -1 },
    )
  })
}

const noOffset = -1n
