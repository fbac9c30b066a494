import { describe, expect, it } from 'vitest'
import { HeldEffects } from '../../../../lib/testing/broker-model/effects.ts'
import { join, openTransaction, writeWindow } from '../../../contract/broker/scene.ts'
import { bench } from './fixture.ts'

describe('the work of brokers behind their answers', () => {
  it('shows the old offset, or none that is stable, between the answer to EndTxn and the marker (eos.md 2.1 c)', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects })
    const { run, client, group, first } = scene
    const producer = await run(openTransaction(scene, 100n))
    expect((await run(client.end(2, producer, true))).code).toBe(0)

    expect(await run(client.committed(group, first, false))).toMatchObject({ code: 0, offset: -1n })
    expect(await run(client.committed(group, first, true))).toMatchObject({ code: 88 })
    effects.release(({ kind }) => kind === 'marker')
    expect(await run(client.committed(group, first, true))).toMatchObject({ code: 0, offset: 100n })
  })

  it('writes the marker of each partition by itself', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects })
    const { run, client, first, second, id } = scene
    const producer = await run(client.begin(id))
    for (const partition of [first, second]) await run(client.produce(2, producer, partition))
    await run(client.end(2, producer, true))
    expect(effects.waiting.map(({ kind }) => kind)).toEqual(['marker', 'marker'])

    effects.release((effect) => effect.kind === 'marker' && effect.partition.partition === 1)
    expect((await run(client.listOffset(first, -1n, 1))).offset).toBe(0n)
    expect((await run(client.listOffset(second, -1n, 1))).offset).toBe(2n)
    expect((await run(client.transaction(id))).topics).toEqual([{ topic: first.topic, partitions: [0] }])
  })

  it('keeps the id busy until every marker is written and that is noted', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects })
    const { run, client, id } = scene
    const producer = await run(openTransaction(scene))
    await run(client.end(2, producer, true))
    expect((await run(client.init(id))).code).toBe(51)
    effects.release(({ kind }) => kind === 'marker')
    expect((await run(client.init(id))).code).toBe(51)
    expect((await run(client.end(2, producer, true))).code).toBe(51)
    effects.release()
    expect((await run(client.end(2, producer, true))).code).toBe(0)
    expect((await run(client.init(id))).code).toBe(0)
  })

  it('waits a little with the first write of the next transaction, then says "not yet"', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects })
    const { run, client, clock, first, group } = scene
    const producer = await run(openTransaction(scene))
    const ended = await run(client.end(2, producer, true))
    const next = { ...producer, producerEpoch: ended.producerEpoch }
    const startedMs = clock.now()
    expect((await run(client.produce(2, next, first))).code).toBe(51)
    expect(clock.now() - startedMs).toBe(100)
    expect(await run(client.commitOffset(2, next, group, first, 1n))).toBe(51)
    effects.release()
    expect((await run(client.produce(2, next, first))).code).toBe(0)
  })

  it('takes the first write of the next transaction as soon as the markers of the last one are written', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects })
    const { run, client, clock, first } = scene
    const producer = await run(openTransaction(scene))
    const ended = await run(client.end(2, producer, true))
    const next = { ...producer, producerEpoch: ended.producerEpoch }
    const startedMs = clock.now()
    const written = client.produce(2, next, first)
    void clock.sleep(30).then(() => effects.release())
    expect((await run(written)).code).toBe(0)
    expect(clock.now() - startedMs).toBe(40)
  })

  it('tells older producers to try again instead', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects, transactionVersion: 1 })
    const { run, client, first } = scene
    const producer = await run(openTransaction(scene))
    await run(client.end(1, producer, true))
    expect(await run(client.addPartitions(producer, first))).toEqual([51])
    effects.release((effect) => effect.kind === 'marker')
    expect((await run(client.produce(1, producer, first, { sequence: 1 }))).code).toBe(19)
  })

  it('does not append what was verified before the transaction ended', async () => {
    const effects = new HeldEffects()
    const scene = await bench({ effects })
    const { run, client, first, id } = scene
    const producer = await run(client.begin(id))
    await run(join(scene, producer, [first]))
    await run(writeWindow(scene, producer, 1n))
    await run(client.init(id))
    effects.release()
    expect((await run(client.produce(2, producer, first, { sequence: 1 }))).code).toBe(47)
  })
})
