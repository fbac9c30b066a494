import { describe, expect, test } from 'vitest'
import {
  committedBy,
  deleteRecords,
  editFence,
  fenceOf,
  moveOffset,
  recreateTopic,
  resumeLane,
} from '../../helpers/operator.ts'
import { eventOf, ring } from '../../helpers/ringing.ts'
import { goesOn, relayedFive, stopsWith } from '../../helpers/stopped-lanes.ts'

describe.each(['4.1', '3.9'] as const)('a source that has changed behind the lane, Kafka %s', (version) => {
  test('records deleted before they were relayed: the lane stops with their number', async () => {
    const { world, values } = await relayedFive({ version })
    const more = await world.produce(10)
    await deleteRecords(world.cluster, { topic: world.names.source, partition: 0 }, 8)
    const message = await stopsWith(world, 'SOURCE_TRUNCATED')
    expect(message).toContain('partition 0 begins at 8, the lane is at 5: up to 3 records were deleted')
    expect(message).toContain("Raise the source's retention; reset the lane to 8 to go on without them")
    await resumeLane(world, 8)
    await goesOn(world, [...values, ...more.slice(3)])
  })

  test('deleted and made again under its name: the lane stops; reset, it relays the new log', async () => {
    const { world, lane, values } = await relayedFive({ version })
    const { sourceTopicId } = await fenceOf(world.fences, lane.transactionalId)
    await recreateTopic(world.cluster, world.names.source)
    const more = await world.produce(7)
    const message = await stopsWith(world, 'SOURCE_REPLACED')
    expect(message).toContain(`the source topic had id ${sourceTopicId}, now `)
    expect(message).toContain('To relay the new log from a chosen place, reset the lane')
    await resumeLane(world, 0)
    await goesOn(world, [...values, ...more])
  })
})

describe('a source that has changed behind the lane', () => {
  test('everything below the position deleted: nothing is lost, the lane goes on', async () => {
    const { world, values } = await relayedFive()
    await deleteRecords(world.cluster, { topic: world.names.source, partition: 0 }, 5)
    await goesOn(world, [...values, ...(await world.produce(3))])
  })

  test('deleted and made again while a container is warm: it does not read the new log as the old one', async () => {
    const { world, values } = await relayedFive()
    const warm = await world.container()
    values.push(...(await world.produce(5)))
    await ring(warm)
    await recreateTopic(world.cluster, world.names.source)
    const more = await world.produce(20)
    const event = eventOf(world.names.source, 10, 19)
    const first = await ring(warm, event) // with the metadata of before it may only fail: the next ring decides
    expect(first).not.toMatchObject({ lanes: [{ kind: 'done' }] })
    expect(await ring(warm, event)).toMatchObject({ lanes: [{ kind: 'stopped', code: 'SOURCE_REPLACED' }] })
    expect(await world.delivered()).toEqual(values)
    await resumeLane(world, 0)
    await goesOn(world, [...values, ...more])
  })

  test('it ends below the position, as after an unclean leader election: the lane stops', async () => {
    const { world, lane, values, committed } = await relayedFive()
    await editFence(world.fences, lane.transactionalId, { committedUntil: new Map([[0, 50n]]) })
    await moveOffset(world.cluster, lane, 50, committed.metadata)
    const message = await stopsWith(world, 'SOURCE_REPLACED')
    expect(message).toContain('partition 0 ends at 5, below the committed 50')
    expect(message).toContain('Reset the lane to relay the new one')
    await resumeLane(world, 5)
    await goesOn(world, [...values, ...(await world.produce(3))])
    expect(await committedBy(world.cluster, lane)).toMatchObject({ offset: 8n })
  })
})

test('an output deleted and made again: the lane goes on into the new one', async () => {
  const { world } = await relayedFive()
  const warm = await world.container()
  await world.produce(5)
  await ring(warm)
  await recreateTopic(world.cluster, world.names.output)
  const more = await world.produce(5)
  expect(await ring(warm)).toMatchObject({ ok: true })
  expect(await world.delivered()).toEqual(more)
})
