import { expect } from 'vitest'
import type { Producer } from './client.ts'
import { type Define, history, join, type Scene, writeWindow } from './scene.ts'

/** The last epoch that a producer gets: 32767 is kept for fencing. */
const lastEpoch = 32766
const initsAtOnce = 250

/** What happens to an id whose epochs are used up, which takes a lane 32,767 windows (KIP-360, P4). */
export function epochRows(it: Define): void {
  it("gives a new producer id with the end of the last epoch's transaction, or with the next InitProducerId", async (scene) => {
    const { client, generation, first, second, group, id } = scene
    const producer = await exhaust(scene)
    await writeWindow(scene, producer, 1n)
    const ended = await client.end(generation, producer, true)
    await client.untilCompleted(id)
    const next = generation === 2 ? ended : await client.init(id)
    expect(next).toMatchObject({ code: 0, producerEpoch: 0 })
    expect(next.producerId).not.toBe(producer.producerId)
    const late = [await client.produce(generation, producer, first), await client.produce(generation, producer, second)]
    expect(late.map(({ code }) => code)).toEqual([generation === 2 ? 47 : 49, 49])
    // a partition that knows the producer refuses it by its epoch, before anybody asks the coordinator
    expect(await client.commitOffset(generation, producer, group, first, 9n)).toBe(generation === 2 ? 47 : 49)
    expect(await client.addPartitions(producer, second)).toEqual([49])
    // the resend of the commit, which knows the old id only
    expect(await client.end(generation, producer, true)).toMatchObject(generation === 2 ? next : { code: 49 })

    const renewed = { transactionalId: id, producerId: next.producerId, producerEpoch: next.producerEpoch }
    await writeWindow(scene, renewed, 2n)
    await client.endAndWait(generation, renewed, true)
    expect(await history(scene, first)).toEqual(['window 1', '(commit)', 'window 2', '(commit)'])
  })

  it('gives a new producer id to the successor of a crash in the last epoch', async (scene) => {
    const { client, first, id } = scene
    const producer = await exhaust(scene)
    await writeWindow(scene, producer, 1n)
    const next = await client.begin(id)
    expect(next.producerEpoch).toBe(0)
    expect(next.producerId).not.toBe(producer.producerId)
    expect(await history(scene, first)).toEqual(['window 1', '(abort)'])
  })

  it('is wedged by the abort of a session that was fenced in its last epoch, with transaction.version 2 (P4)', async (scene) => {
    const { client, generation, first, id } = scene
    const fenced = await exhaust(scene)
    await writeWindow(scene, fenced, 1n)
    expect((await client.init(id)).code).toBe(51)
    await client.untilCompleted(id)
    const ended = await client.end(generation, fenced, false)
    if (generation === 1) {
      expect(ended.code).toBe(90)
      expect((await client.init(id)).producerEpoch).toBe(0)
      return
    }
    expect(ended).toMatchObject({ code: 0, producerEpoch: lastEpoch + 1 })
    const wedged: Producer = { ...fenced, producerEpoch: lastEpoch + 1 }
    expect((await client.produce(2, wedged, first)).code).toBe(0)
    expect((await client.end(2, wedged, true)).code).toBe(-1)
    expect((await client.end(2, wedged, false)).code).toBe(-1)
    expect((await client.init(id)).code).toBe(-1)
    expect((await client.transaction(id)).transactionState).toBe('Ongoing')

    // the cure: the older abort does not touch the epoch
    expect((await client.end(1, wedged, false)).code).toBe(0)
    await client.untilCompleted(id)
    const cured = await client.begin(id)
    expect(cured.producerEpoch).toBe(0)
    await join(scene, cured, [first])
    expect((await client.produce(2, cured, first)).code).toBe(0)
  })
}

/** A session of the last epoch. */
async function exhaust({ client, id }: Scene): Promise<Producer> {
  let producer = await client.begin(id)
  while (producer.producerEpoch < lastEpoch) {
    const count = Math.min(initsAtOnce, lastEpoch - producer.producerEpoch)
    const answers = await Promise.all(Array.from({ length: count }, () => client.init(id)))
    const last = answers.at(-1)
    if (last === undefined || answers.some(({ code }) => code !== 0)) throw new Error('InitProducerId was refused')
    producer = { transactionalId: id, producerId: last.producerId, producerEpoch: last.producerEpoch }
  }
  return producer
}
