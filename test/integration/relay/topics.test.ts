import { describe, expect, test } from 'vitest'
import { addPartitions, deleteTopic, recreateTopic } from '../../helpers/operator.ts'
import { readCommitted } from '../../helpers/read-committed.ts'
import { copyRelay, fenceTable, type Names, relayWorld } from '../../helpers/relay-world.ts'
import { eventOf, failureOf, onlyLane, refusalOf, ring } from '../../helpers/ringing.ts'
import { freshName } from '../../helpers/stack.ts'
import { createTopicNamed } from '../../helpers/topics.ts'
import { appendRecords } from '../../helpers/writing.ts'

describe('a topic that does not exist', () => {
  test.each(['source', 'output', 'dead'] as const)(
    '%s: every ring fails by its name until it is created',
    async (missing) => {
      const { container, produce, names, delivered, cluster } = await relayWorld()
      await deleteTopic(cluster, names[missing])
      const warm = await container()
      const refusal = await refusalOf(ring(warm))
      expect(refusal).toMatchObject({ code: 'TOPIC_MISSING', disposition: 'fix-config' })
      expect(refusal.message).toContain(`topic '${names[missing]}' does not exist`)
      expect(refusal.message).toContain('create before relaying')
      await createTopicNamed(cluster, names[missing])
      const values = await produce(3)
      expect(onlyLane(await ring(warm))).toMatchObject({ kind: 'done' })
      expect(await delivered()).toEqual(values)
    },
  )

  test('several: all named together', async () => {
    const { container, names, cluster } = await relayWorld()
    for (const name of [names.output, names.dead]) await deleteTopic(cluster, name)
    const refusal = await refusalOf(ring(await container()))
    expect(refusal.message).toContain(`topics '${names.output}', '${names.dead}' do not exist`)
  })

  test('the output, deleted while a container is warm: nothing is committed until it is back', async () => {
    const { container, produce, names, delivered, cluster } = await relayWorld()
    const warm = await container()
    await produce(3)
    await ring(warm)
    await deleteTopic(cluster, names.output)
    const values = await produce(3)
    const failure = await failureOf(ring(warm))
    expect(failure).toMatchObject({ code: 'TOPIC_MISSING', disposition: 'fix-config', outcome: 'not-applied' })
    expect(failure.message).toContain(`for ${names.output}-0 was answered UNKNOWN_TOPIC_OR_PARTITION (3)`)
    expect(failure.message).toContain('create it, or take it out of the relay')
    await createTopicNamed(cluster, names.output)
    expect(await ring(warm)).toMatchObject({ ok: true })
    expect(await delivered()).toEqual(values)
  })
})

describe('partitions added later', () => {
  test.each(['4.1', '3.9'] as const)(
    'are relayed from their first record, by a warm container and by events too, Kafka %s',
    async (version) => {
      const { container, produce, names, delivered, cluster } = await relayWorld({ version })
      const warm = await container()
      const values = await produce(3)
      await ring(warm)
      await addPartitions(cluster, names.source, 3)
      values.push(...(await produce(3, 1)))
      expect(await ring(warm, eventOf(names.source, 2, 2, 1))).toMatchObject({ ok: true })
      values.push(...(await produce(3, 2)))
      expect(await ring(await container())).toMatchObject({ ok: true, lanes: [{}, {}, {}] })
      expect(await delivered()).toEqual(values)
    },
  )

  const startAt = (when: 'event' | Date) => (names: Names) => {
    const relay = copyRelay(names)
    return { ...relay, startAt: when === 'event' ? when : { timestampMs: when.getTime() } }
  }

  test.each([
    ["'event'", 'event'],
    ['a moment', new Date(Date.now() + 3_600_000)],
  ] as const)('start at their first record although startAt is %s', async (_, when) => {
    const { container, produce, names, delivered, cluster } = await relayWorld({
      define: startAt(when),
      source: { partitions: 2 },
    })
    await produce(3)
    await ring(await container(), eventOf(names.source, 3, 3))
    await addPartitions(cluster, names.source, 3)
    const values = await produce(5, 2)
    expect(await ring(await container(), eventOf(names.source, 4, 4, 2))).toMatchObject({ ok: true })
    expect(await delivered()).toEqual(values)
  })

  test('start at their first record in a lane that a warm container has relayed others of', async () => {
    const define = (names: Names) => ({ ...startAt('event')(names), partitionsPerLane: 2 })
    const { container, produce, names, delivered, cluster } = await relayWorld({ define })
    const warm = await container()
    const values = await produce(3)
    await ring(warm, eventOf(names.source, 0, 2))
    await addPartitions(cluster, names.source, 2)
    values.push(...(await produce(3, 1)))
    expect(await ring(warm, eventOf(names.source, 2, 2, 1))).toMatchObject({ ok: true, lanes: [{ kind: 'done' }] })
    expect(await delivered()).toEqual(values)
  })

  test('count as such where the fence table was lost: more is relayed than startAt asks for, never less', async () => {
    const options = { define: startAt('event'), source: { partitions: 2 } }
    const { container, produce, names, delivered } = await relayWorld(options)
    const values = await produce(3)
    await ring(await container(), eventOf(names.source, 0, 2))
    values.push(...(await produce(4, 1)))
    const fences = await fenceTable({ table: freshName('fences') })
    await ring(await container({ fences }), eventOf(names.source, 3, 3, 1))
    expect(await delivered()).toEqual(values)
  })

  test('start at the event when they were there at the first start, however late their own first event', async () => {
    const { container, produce, names, delivered } = await relayWorld({
      define: startAt('event'),
      source: { partitions: 2 },
    })
    const values = await produce(3)
    await ring(await container(), eventOf(names.source, 0, 2))
    await produce(2, 1)
    values.push(...(await produce(2, 1)))
    await ring(await container(), eventOf(names.source, 2, 3, 1))
    expect(await delivered()).toEqual(values)
  })
})

test('an output that grows: the keys of a lane stay where they were', async () => {
  const { container, produce, names, delivered, cluster } = await relayWorld()
  const values = await produce(5)
  await ring(await container())
  await addPartitions(cluster, names.output, 3)
  values.push(...(await produce(5)))
  await ring(await container())
  expect(await delivered()).toEqual(values)
})

test('an output made again with fewer partitions, under a warm container: the lane goes on into those there are', async () => {
  const { container, names, cluster } = await relayWorld({ output: { partitions: 3 } })
  const values = Array.from({ length: 9 }, (_, index) => `v${index}`)
  const append = () =>
    appendRecords(
      cluster,
      { topic: names.source, partition: 0 },
      values.map((value) => ({ key: Buffer.from(`key of ${value}`), value: Buffer.from(value) })),
    )
  await append()
  const warm = await container()
  await ring(warm)
  await recreateTopic(cluster, names.output)
  await append()
  const failure = await failureOf(ring(warm))
  expect(failure).toMatchObject({ code: 'TOPIC_MISSING', disposition: 'fix-config' })
  expect(failure.message).toMatch(new RegExp(`${names.output}-[12] was answered .*; create it`))
  expect(onlyLane(await ring(warm))).toMatchObject({ kind: 'done' })
  expect(await readCommitted(cluster, names.output, 1)).toEqual(values)
})
