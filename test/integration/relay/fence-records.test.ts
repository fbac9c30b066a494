import { expect, test } from 'vitest'
import { systemRandom } from '../../../lib/clock.ts'
import { soon } from '../../helpers/fences.ts'
import { committedBy, editFence, fenceOf } from '../../helpers/operator.ts'
import { fenceTable } from '../../helpers/relay-world.ts'
import { onlyLane, ring } from '../../helpers/ringing.ts'
import { freshName } from '../../helpers/stack.ts'
import { goesOn, relayedFive } from '../../helpers/stopped-lanes.ts'

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
