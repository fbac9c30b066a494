import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, onTestFinished, test } from 'vitest'
import { systemRandom } from '../../../lib/clock.ts'
import { encodeFence, type Item } from '../../../lib/fencing/fence-item.ts'
import { soon } from '../../helpers/fences.ts'
import { committedBy, editFence, fenceOf } from '../../helpers/operator.ts'
import { fenceTable, fenceTableName } from '../../helpers/relay-world.ts'
import { failureOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { dynamoDbEndpoint, freshName } from '../../helpers/stack.ts'
import { goesOn, relayedFive } from '../../helpers/stopped-lanes.ts'

/** Writes items as they are, past the store. */
async function rawTable() {
  const client = new DynamoDBClient(await dynamoDbEndpoint())
  onTestFinished(() => client.destroy())
  return (Item: Item) => client.send(new PutItemCommand({ TableName: fenceTableName, Item }))
}

const anotherTable = () => fenceTable({ table: freshName('fences') })

test('a lost fence table is made anew from what Kafka has: token and lineage go on, with an alarm', async () => {
  const { world, lane, values } = await relayedFive()
  const lost = await fenceOf(world.fences, lane.transactionalId)
  const fences = await anotherTable()
  const alarms: { code: string; message: string }[] = []
  const more = await world.produce(3)
  const runtime = await world.container({ fences, observer: { alarm: (alarm) => alarms.push(alarm) } })
  expect(onlyLane(await ring(runtime))).toMatchObject({ kind: 'done' })
  expect(alarms).toMatchObject([{ lane: lane.transactionalId, code: 'FENCE_TABLE_BEHIND' }])
  expect(alarms[0]?.message).toContain(`token ${lost.token + 1}`)
  expect(alarms[0]?.message).toContain(`does another deployment use the prefix '${world.prefix}'`)
  expect(await fenceOf(fences, lane.transactionalId)).toMatchObject({ lineage: lost.lineage, token: lost.token + 1 })
  expect(await world.delivered()).toEqual([...values, ...more])
})

test('a fence table restored from an older copy gives way to what Kafka has', async () => {
  const { world, lane, values } = await relayedFive()
  const backup = await fenceOf(world.fences, lane.transactionalId)
  values.push(...(await world.produce(5)))
  await ring(await world.container())
  await ring(await world.container())
  const restored = await anotherTable()
  await restored.write({ kind: 'create', record: backup, writer: systemRandom.id() }, soon())
  values.push(...(await world.produce(5)))
  expect(onlyLane(await ring(await world.container({ fences: restored })))).toMatchObject({ kind: 'done' })
  expect(await world.delivered()).toEqual(values)
  expect((await fenceOf(restored, lane.transactionalId)).token).toBeGreaterThan(backup.token)
})

test.each([
  ['a newer version wrote', { formatVersion: { N: '2' } }, 'FORMAT_TOO_NEW', 'deploy the newer version again'],
  ['somebody broke', { token: { S: 'seven' } }, 'FENCE_RECORD_INVALID', 'restore the item from a backup, or delete it'],
] as const)(
  'a record that %s: failure by name, nothing is relayed until it can be read',
  async (_, broken, code, fix) => {
    const { world, lane, values } = await relayedFive()
    const sound = encodeFence(await fenceOf(world.fences, lane.transactionalId))
    const put = await rawTable()
    await put({ ...sound, ...broken })
    values.push(...(await world.produce(3)))
    const failure = await failureOf(ring(await world.container()))
    expect(failure).toMatchObject({ code, disposition: 'fix-config' })
    expect(failure.message).toContain(fix)
    expect(await world.delivered()).toEqual(values.slice(0, 5))
    await put(sound)
    await goesOn(world, values)
  },
)

test('a record left dirty by a crash after the commit: the committed offset counts', async () => {
  const { world, lane, values } = await relayedFive()
  const before = await fenceOf(world.fences, lane.transactionalId)
  values.push(...(await world.produce(5)))
  await ring(await world.container())
  const asTheCrashLeftIt = { dirty: true, working: true, committedUntil: before.committedUntil }
  await editFence(world.fences, lane.transactionalId, asTheCrashLeftIt)
  await goesOn(world, [...values, ...(await world.produce(3))])
  expect(await committedBy(world.cluster, lane)).toMatchObject({ offset: 13n })
})
