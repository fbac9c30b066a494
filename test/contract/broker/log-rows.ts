import { expect } from 'vitest'
import { readBatches } from '../../../lib/kafka/record-batch/decode.ts'
import { batchOf } from './client.ts'
import { allValues, commitWindow, type Define, openTransaction, type Scene } from './scene.ts'

/** Reading: bounds, isolation, aborted transactions, topics that come and go. */
export function logRows(it: Define): void {
  it('holds read_committed readers back at the first open transaction', async (scene) => {
    const { client, generation, first } = scene
    await client.producePlain(first, { values: ['a', 'b'] })
    const producer = await openTransaction(scene)
    await client.producePlain(first, { values: ['c'] })

    const committed = await client.fetch(first, 0n)
    expect([committed.lastStableOffset, committed.highWatermark]).toEqual([2n, 4n])
    expect(batchEnds(scene, committed.records)).toEqual([1n])
    expect(batchEnds(scene, (await client.fetch(first, 0n, { isolation: 0 })).records)).toEqual([1n, 2n, 3n])
    expect((await client.fetch(first, 3n)).errorCode).toBe(0)
    expect((await client.fetch(first, 3n)).records?.length).toBe(0)
    expect((await client.listOffset(first, -1n, 1)).offset).toBe(2n)
    expect((await client.listOffset(first, -1n, 0)).offset).toBe(4n)

    await client.endAndWait(generation, producer, true)
    expect((await client.listOffset(first, -1n, 1)).offset).toBe(5n)
    expect(batchEnds(scene, (await client.fetch(first, 0n)).records)).toEqual([1n, 2n, 3n, 4n])
  })

  it('names the aborted transactions of what it answers, and only to read_committed readers', async (scene) => {
    const { client, generation, first } = scene
    const aborted = await openTransaction(scene)
    const next = await client.endAndWait(generation, aborted, false)
    await commitWindow(scene, next, 100n, generation === 2 ? 0 : 1)

    const answer = await client.fetch(first, 0n)
    expect(answer.abortedTransactions).toEqual([{ producerId: aborted.producerId, firstOffset: 0n }])
    expect((await client.fetch(first, 0n, { isolation: 0 })).abortedTransactions).toBeNull()
    expect((await client.fetch(first, 2n)).abortedTransactions).toEqual([])
    const batches = [...readBatches(answer.records ?? Buffer.alloc(0), first)]
    const summary = batches.map((batch) => [batch.isTransactional, batch.isControl ? batch.controlKind() : 'data'])
    expect(summary).toEqual([
      [true, 'data'],
      [true, 'abort'],
      [true, 'data'],
      [true, 'commit'],
    ])
  })

  it('names aborted transactions in the order in which they ended', async (scene) => {
    const { client, generation, first, freshName } = scene
    const early = { ...scene, id: freshName('early'), group: freshName('group') }
    const late = { ...scene, id: freshName('late'), group: freshName('group') }
    const begunFirst = await openTransaction(early)
    const begunSecond = await openTransaction(late)
    await client.endAndWait(generation, begunSecond, false)
    await client.endAndWait(generation, begunFirst, false)
    expect((await client.fetch(first, 0n)).abortedTransactions).toEqual([
      { producerId: begunSecond.producerId, firstOffset: 1n },
      { producerId: begunFirst.producerId, firstOffset: 0n },
    ])
  })

  it('answers from the batch that holds the offset, and refuses offsets outside of the log', async (scene) => {
    const { client, first } = scene
    await client.producePlain(first, { values: ['a', 'b', 'c'] })
    const inside = await client.fetch(first, 1n)
    expect(readBatches(inside.records ?? Buffer.alloc(0), first).next().value?.baseOffset).toBe(0n)
    expect((await client.fetch(first, 3n)).errorCode).toBe(0)
    expect(await client.fetch(first, 4n)).toMatchObject({ errorCode: 1, highWatermark: -1n, lastStableOffset: -1n })
  })

  it('counts bytes and not batches, but sends the first batch whole', async ({ client, first }) => {
    for (const value of ['a', 'b', 'c']) await client.producePlain(first, { values: [value.repeat(100)] })
    const whole = (await client.fetch(first, 0n)).records ?? Buffer.alloc(0)
    const one = whole.length / 3
    expect((await client.fetch(first, 0n, { partitionMaxBytes: 1 })).records?.length).toBe(one)
    const cut = (await client.fetch(first, 0n, { partitionMaxBytes: one + 10 })).records
    expect(cut).toEqual(whole.subarray(0, one + 10))
  })

  it('ends an answer where a segment ends', async ({ client, first }) => {
    const longAgo = client.clock.now() - 30 * 24 * 3_600_000
    await client.producePlain(first, { values: ['old'], timestampMs: longAgo })
    await client.producePlain(first, { values: ['new'] })
    const read = async (from: bigint) => {
      const { records } = await client.fetch(first, from)
      return [...readBatches(records ?? Buffer.alloc(0), first)].map(({ baseOffset }) => baseOffset)
    }
    expect(await read(0n)).toEqual([0n])
    expect(await read(1n)).toEqual([1n])
  })

  it('waits for records when it has none', async (scene) => {
    const { client, first } = scene
    const waiting = client.fetch(first, 0n, { maxWaitMs: 500 })
    expect((await waiting).records?.length).toBe(0)
  })

  it('refuses a topic id that it does not know, and the id of a topic that was made again (P10)', async (scene) => {
    const { client, first, topic, topicId } = scene
    await client.producePlain(first)
    const unknown = '11111111-2222-3333-4444-555555555555'
    expect((await client.fetch(first, 0n, { topicId: unknown })).errorCode).toBe(100)
    await remake(scene)
    const known = (await client.cluster.topics([topic], soon(scene), 'fresh')).get(topic)
    expect(known?.topicId).not.toBe(topicId)
    expect((await client.fetch(first, 0n, { topicId })).errorCode).toBe(100)
  })

  it('checks the leader epoch that a reader believes in', async ({ client, first }) => {
    expect((await client.fetch(first, 0n, { currentLeaderEpoch: 0 })).errorCode).toBe(0)
    expect((await client.fetch(first, 0n, { currentLeaderEpoch: 1 })).errorCode).toBe(75)
    expect((await client.listOffset(first, -1n, 1, 0)).code).toBe(0)
    expect((await client.listOffset(first, -1n, 1, 1)).code).toBe(75)
  })

  it('finds offsets by time', async ({ client, first }) => {
    const at = client.clock.now() - 1_000
    await client.producePlain(first, { values: ['a'], timestampMs: at })
    await client.producePlain(first, { values: ['b'], timestampMs: at + 10 })
    expect(await client.listOffset(first, BigInt(at))).toEqual({ code: 0, offset: 0n, timestamp: BigInt(at) })
    expect(await client.listOffset(first, BigInt(at + 1))).toEqual({ code: 0, offset: 1n, timestamp: BigInt(at + 10) })
    expect(await client.listOffset(first, BigInt(at + 11))).toEqual({ code: 0, offset: -1n, timestamp: -1n })
    expect((await client.listOffset(first, -3n)).offset).toBe(1n)
    expect(await client.listOffset(first, -2n)).toEqual({ code: 0, offset: 0n, timestamp: -1n })
  })

  it('does not know the offsets of a topic that does not exist', async ({ client, missing }) => {
    expect((await client.listOffset(missing, -1n)).code).toBe(3)
  })

  it('deletes records below an offset, and none beyond the end', async (scene) => {
    const { client, first } = scene
    await client.producePlain(first, { values: ['a', 'b', 'c'] })
    const erase = async (offset: bigint) => {
      const topics = [{ name: first.topic, partitions: [{ partitionIndex: 0, offset }] }]
      const target = { to: 'leader', ...first } as const
      const answer = await client.ask(target, 'DeleteRecords', { topics, timeoutMs: 10_000 })
      const partition = answer.topics[0]?.partitions[0]
      return [partition?.errorCode, partition?.lowWatermark]
    }
    expect(await erase(4n)).toEqual([1, -1n])
    expect(await erase(2n)).toEqual([0, 2n])
    expect((await client.listOffset(first, -2n)).offset).toBe(2n)
    expect((await client.fetch(first, 1n)).errorCode).toBe(1)
    expect((await client.fetch(first, 2n)).logStartOffset).toBe(2n)
    expect(await erase(-1n)).toEqual([0, 3n])
    expect(await allValues(scene, first)).toEqual([])
  })

  it('can lose all records while a position waits before a marker (P11)', async (scene) => {
    const { client, first } = scene
    await commitWindow(scene, await client.begin(scene.id), 1n)
    const topics = [{ name: first.topic, partitions: [{ partitionIndex: 0, offset: -1n }] }]
    await client.ask({ to: 'leader', ...first }, 'DeleteRecords', { topics, timeoutMs: 10_000 })
    expect((await client.listOffset(first, -2n)).offset).toBe(2n)
    expect((await client.fetch(first, 1n)).errorCode).toBe(1)
  })

  it('refuses two batches for one partition in a request, and a batch with a wrong checksum', async (scene) => {
    const { client, first } = scene
    const one = batchOf(
      { sequence: -1, timestampMs: client.clock.now() },
      { producerId: -1n, producerEpoch: -1, transactional: false },
    )
    expect((await client.produceBytes(11, null, first, Buffer.concat([one, one]))).code).toBe(87)
    const corrupt = Buffer.from(one)
    corrupt.writeUInt8(corrupt.readUInt8(corrupt.length - 1) ^ 1, corrupt.length - 1)
    expect((await client.produceBytes(11, null, first, corrupt)).code).toBe(2)
    expect(await allValues(scene, first)).toEqual([])
  })

  it('refuses records that its topic forbids', async ({ client, freshName }) => {
    const compacted = { topic: freshName('compacted'), partition: 0 }
    await client.createTopic(compacted.topic, 1, {
      'cleanup.policy': 'compact',
      'message.timestamp.after.max.ms': '1000',
    })
    expect((await client.producePlain(compacted)).code).toBe(87)
    const timestampMs = client.clock.now() + 60_000
    expect((await client.producePlain(compacted, { keys: ['k'], timestampMs })).code).toBe(32)
    expect((await client.producePlain(compacted, { keys: ['k'] })).code).toBe(0)
  })

  it('puts its own time on records where the topic says so', async ({ client, freshName }) => {
    const stamped = { topic: freshName('stamped'), partition: 0 }
    await client.createTopic(stamped.topic, 1, { 'message.timestamp.type': 'LogAppendTime' })
    const beforeMs = client.clock.now()
    await client.producePlain(stamped, { timestampMs: 1 })
    const { records } = await client.fetch(stamped, 0n)
    const [batch] = readBatches(records ?? Buffer.alloc(0), stamped)
    const [record] = batch?.records() ?? []
    expect(record?.timestampType).toBe('LogAppendTime')
    expect(record?.timestampMs).toBeGreaterThanOrEqual(beforeMs)
  })

  it('adds partitions that begin at 0', async ({ client, topic }) => {
    const grow = async (count: number) => {
      const topics = [{ name: topic, count, assignments: null }]
      const { results } = await client.ask({ to: 'any' }, 'CreatePartitions', {
        topics,
        timeoutMs: 10_000,
        validateOnly: false,
      })
      return results[0]?.errorCode
    }
    expect(await grow(2)).toBe(37)
    expect(await grow(3)).toBe(0)
    await client.until(async () => (await client.listOffset({ topic, partition: 2 }, -1n)).code === 0)
    expect((await client.listOffset({ topic, partition: 2 }, -1n)).offset).toBe(0n)
  })

  it('makes topics once, and tells what they are set to', async ({ client, topic, freshName }) => {
    const make = async (name: string, numPartitions = 1, configs: { name: string; value: string }[] = []) => {
      const topics = [{ name, numPartitions, replicationFactor: 1, assignments: [], configs }]
      return (await client.ask({ to: 'any' }, 'CreateTopics', { topics, timeoutMs: 10_000 })).topics[0]?.errorCode
    }
    expect(await make(topic)).toBe(36)
    expect(await make('no spaces')).toBe(17)
    expect(await make(freshName('none'), 0)).toBe(37)
    expect(await make(freshName('odd'), 1, [{ name: 'no.such.setting', value: '1' }])).toBe(40)

    const name = freshName('set')
    expect(await make(name, 1, [{ name: 'max.message.bytes', value: '1000' }])).toBe(0)
    const configurationKeys = ['max.message.bytes', 'cleanup.policy']
    const resources = [{ resourceType: 2, resourceName: name, configurationKeys }]
    await client.until(
      async () => (await client.ask({ to: 'any' }, 'DescribeConfigs', { resources })).results[0]?.errorCode === 0,
    )
    const [described] = (await client.ask({ to: 'any' }, 'DescribeConfigs', { resources })).results
    const values = described?.configs.map((config) => [config.name, config.value])
    expect(values?.sort()).toEqual([
      ['cleanup.policy', 'delete'],
      ['max.message.bytes', '1000'],
    ])
  })
}

/** The topic is deleted and made again under its name. */
async function remake({ client, topic }: Scene): Promise<void> {
  const topics = [{ name: topic, topicId: '00000000-0000-0000-0000-000000000000' }]
  await client.ask({ to: 'any' }, 'DeleteTopics', { topics, timeoutMs: 10_000 })
  await client.until(async () => (await client.createTopic(topic, 2).catch(() => '')) !== '')
}

const soon = ({ client }: Scene) => {
  const atMs = client.clock.now() + 10_000
  return { atMs, remainingMs: () => atMs - client.clock.now() }
}

function batchEnds({ first }: Scene, records: Buffer | null): readonly bigint[] {
  return [...readBatches(records ?? Buffer.alloc(0), first)].map(({ lastOffset }) => lastOffset)
}
