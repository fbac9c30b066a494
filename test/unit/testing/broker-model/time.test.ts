import { describe, expect, it } from 'vitest'
import { commitWindow, openTransaction } from '../../../contract/broker/scene.ts'
import { bench } from './fixture.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

describe('what brokers do as time goes by', () => {
  it('forget offsets per partition, seven days after their last commit, pending ones aside', async () => {
    const { run, client, clock, group, first, second } = await bench()
    await run(client.commitPlain(group, first, 1n))
    await clock.advance(4 * dayMs)
    await run(client.commitPlain(group, second, 2n))
    await clock.advance(3 * dayMs)
    expect((await run(client.committed(group, first, true))).offset).toBe(-1n)
    expect((await run(client.committed(group, second, true))).offset).toBe(2n)
  })

  it('keep an offset while another one is pending for its partition', async () => {
    const scene = await bench()
    const { run, client, clock, group, first, id } = scene
    await run(client.commitPlain(group, first, 1n))
    await clock.advance(7 * dayMs - 60_000)
    await run(openTransaction(scene, 100n))
    expect((await run(client.transaction(id))).transactionState).toBe('Ongoing')
    await clock.advance(61_000)
    expect((await run(client.committed(group, first, false))).offset).toBe(1n)
  })

  it('forget an idle transactional id after seven days: a new producer id, and 49 for the old one', async () => {
    const scene = await bench()
    const { run, client, clock, id, first } = scene
    const producer = await run(commitWindow(scene, await run(client.begin(id)), 1n))
    await clock.advance(7 * dayMs + hourMs)
    expect((await run(client.produce(2, producer, first))).code).toBe(49)
    const next = await run(client.begin(id))
    expect(next.producerId).not.toBe(producer.producerId)
    expect(next.producerEpoch).toBe(0)
  })

  it('forget an idle producer of a partition after a day, and take any sequence of it then', async () => {
    const { run, client, clock, first, id } = await bench({ transactionVersion: 1 })
    const producer = await run(client.begin(id))
    await run(client.addPartitions(producer, first))
    expect((await run(client.produce(1, producer, first))).code).toBe(0)
    await run(client.endAndWait(1, producer, true))
    await clock.advance(dayMs + 10 * 60_000)
    await run(client.addPartitions(producer, first))
    expect((await run(client.produce(1, producer, first, { sequence: 9 }))).code).toBe(0)
  })

  it('delete whole old segments, never the one in use', async () => {
    const { run, client, clock, model } = await bench()
    const topic = 'short'
    model.createTopic({
      name: topic,
      partitions: 1,
      configs: { 'retention.ms': String(dayMs), 'segment.ms': String(hourMs) },
    })
    const partition = { topic, partition: 0 }
    await run(client.producePlain(partition, { values: ['a', 'b'] }))
    await clock.advance(2 * hourMs)
    await run(client.producePlain(partition, { values: ['c'] }))
    await clock.advance(dayMs - hourMs)
    expect((await run(client.listOffset(partition, -2n))).offset).toBe(2n)
    await clock.advance(5 * dayMs)
    expect((await run(client.listOffset(partition, -2n))).offset).toBe(2n)
  })

  it('abort a transaction at the next scan after its timeout', async () => {
    const scene = await bench()
    const { run, client, clock, id } = scene
    const producer = await run(client.begin(id, 15_000))
    await run(client.produce(2, producer, scene.first))
    await clock.advance(14_000)
    expect((await run(client.transaction(id))).transactionState).toBe('Ongoing')
    await clock.advance(10_000)
    expect((await run(client.transaction(id))).transactionState).toBe('CompleteAbort')
  })

  it('hold a fetch without records until something comes', async () => {
    const { run, client, another, clock, first } = await bench()
    const waiting = client.fetch(first, 0n, { maxWaitMs: 5_000 })
    const startedMs = clock.now()
    const written = clock.sleep(1_000).then(() => another().producePlain(first))
    const [answer] = await run(Promise.all([waiting, written]))
    expect(answer.records?.length).toBeGreaterThan(0)
    expect(clock.now() - startedMs).toBeLessThan(5_000)
  })
})
