import { describe, expect, test } from 'vitest'
import { soon } from '../../helpers/fences.ts'
import { copyAfter, gate } from '../../helpers/gates.ts'
import { clusterAt } from '../../helpers/kafka-client.ts'
import { fenceOf, resumeLane } from '../../helpers/operator.ts'
import { fenceTable, relayWorld } from '../../helpers/relay-world.ts'
import { failureOf, onlyLane, ring, stopOf } from '../../helpers/ringing.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'
import { goesOn, relayedFive } from '../../helpers/stopped-lanes.ts'
import { createTopicNamed } from '../../helpers/topics.ts'

const anotherTable = () => fenceTable({ table: freshName('fences') })

describe('a prefix that another deployment uses too', () => {
  test('with the same table and cluster, at once: together they relay every record once', async () => {
    const { container, produce, delivered } = await relayWorld()
    const values = await produce(50)
    const both = await Promise.all(['blue', 'green'].map((name) => container({ settings: { container: name } })))
    await Promise.all(both.map((runtime) => ring(runtime)))
    values.push(...(await produce(50)))
    for (const runtime of both) await ring(runtime)
    expect(await delivered()).toEqual(values)
  })

  test('with the same table and another cluster: stopped, with both cluster ids', async () => {
    const { world, lane, values } = await relayedFive()
    const elsewhere = clusterAt(await kafkaBrokers('3.9'))
    for (const name of Object.values(world.names)) await createTopicNamed(elsewhere, name)
    const stop = await stopOf(ring(await world.container({ cluster: elsewhere })))
    const { clusterId } = await fenceOf(world.fences, lane.transactionalId)
    expect(stop.code).toBe('SOURCE_REPLACED')
    expect(stop.message).toContain(`relaying cluster ${clusterId}, this is ${await elsewhere.clusterId(soon())}`)
    expect(stop.message).toContain('if both are relayed, give each a prefix of its own')
    await resumeLane(world)
    await goesOn(world, [...values, ...(await world.produce(3))])
  })

  test.each(['4.1', '3.9'] as const)(
    'with another table: the one that is overtaken at work stops, no record is lost or relayed twice, Kafka %s',
    async (version) => {
      const world = await relayWorld({ version })
      const values = await world.produce(20)
      const held = gate()
      const overtaken = ring(await world.container({ define: copyAfter(held.pass) }))
      await held.reached
      const theirs = await world.container({ fences: await anotherTable() })
      expect(onlyLane(await ring(theirs))).toMatchObject({ kind: 'done', windows: 1 })
      held.open()
      const stop = await stopOf(overtaken)
      expect(stop.code).toBe('PREFIX_SHARED')
      expect(stop.message).toContain(`lane ${world.lane().transactionalId} was overtaken by offsets of token 2`)
      expect(stop.message).toContain('another deployment with another table uses this prefix; give each its own')
      expect(await world.delivered()).toEqual(values)
      await resumeLane(world, values.length)
      await goesOn(world, [...values, ...(await world.produce(3))])
    },
  )

  test('with another table and a history of its own: stopped, with the lineage of the other', async () => {
    const { world, lane, values } = await relayedFive()
    const fences = await anotherTable()
    const record = { ...(await fenceOf(world.fences, lane.transactionalId)), lineage: 'of another table' }
    await fences.write({ kind: 'create', record, writer: 'them' }, soon())
    const more = await world.produce(3)
    const stop = await stopOf(ring(await world.container({ fences })))
    expect(stop.code).toBe('PREFIX_SHARED')
    const { lineage } = await fenceOf(world.fences, lane.transactionalId)
    expect(stop.message).toContain(`partition 0: offset 5 was committed by lineage ${lineage}`)
    expect(stop.message).toContain('Give each deployment a transactional id prefix of its own')
    await goesOn(world, [...values, ...more])
  })
})

test("a transaction timeout above the broker's bound: refused with both numbers, and nothing is relayed", async () => {
  const { container, produce, delivered } = await relayWorld()
  const values = await produce(3)
  const failure = await failureOf(ring(await container({ settings: { transactionTimeoutMs: 3_600_000 } })))
  expect(failure).toMatchObject({ code: 'TRANSACTION_TIMEOUT_TOO_LONG', disposition: 'fix-config' })
  expect(failure.message).toContain('is 3600000 ms, the broker allows 900000 (transaction.max.timeout.ms)')
  expect(failure.message).toContain("lower the function timeout or raise the broker's bound")
  expect(onlyLane(await ring(await container()))).toMatchObject({ kind: 'done' })
  expect(await delivered()).toEqual(values)
})
