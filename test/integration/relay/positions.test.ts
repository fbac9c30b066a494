import { describe, expect, test } from 'vitest'
import { committedBy, deleteGroup, editFence, moveOffset, resumeLane } from '../../helpers/operator.ts'
import { relayWorld } from '../../helpers/relay-world.ts'
import { ring } from '../../helpers/ringing.ts'
import { goesOn, relayedFive, stopsWith } from '../../helpers/stopped-lanes.ts'

describe('a committed offset that is gone', () => {
  test('is committed again from a clean fence record', async () => {
    const { world, lane, values } = await relayedFive()
    await deleteGroup(world.cluster, lane)
    await goesOn(world, [...values, ...(await world.produce(3))])
    expect(await committedBy(world.cluster, lane)).toMatchObject({ offset: 8n })
  })

  test('stops the lane when windows may have been committed past the fence record', async () => {
    const { world, lane, values } = await relayedFive()
    await editFence(world.fences, lane.transactionalId, { dirty: true })
    await deleteGroup(world.cluster, lane)
    const more = await world.produce(3)
    const message = await stopsWith(world, 'OFFSETS_LOST')
    expect(message).toContain('partition 0: no offset is committed; it was 5 or later')
    expect(message).toContain('check the outputs, then reset the lane')
    expect(await world.delivered()).toEqual(values)
    await resumeLane(world, 5)
    await goesOn(world, [...values, ...more])
  })
})

describe('a committed offset that was moved', () => {
  test.each([
    ['back', 2],
    ['forward', 7],
  ])('%s by a tool: the lane stops, and goes on when it is put back', async (_, to) => {
    const { world, lane, values, committed } = await relayedFive()
    const more = await world.produce(3)
    await moveOffset(world.cluster, lane, to)
    const message = await stopsWith(world, 'OFFSET_MOVED')
    expect(message).toContain(`partition 0: offset ${to} was not committed by ${lane.transactionalId}`)
    expect(message).toContain('set it back, or reset the lane to accept the gap')
    await moveOffset(world.cluster, lane, 5, committed.metadata)
    await resumeLane(world)
    await goesOn(world, [...values, ...more])
  })

  test('below the fence record, although it says it is ours: stopped', async () => {
    const { world, lane, values, committed } = await relayedFive()
    const more = await world.produce(3)
    await moveOffset(world.cluster, lane, 2, committed.metadata)
    const message = await stopsWith(world, 'OFFSET_REGRESSED')
    expect(message).toContain('partition 0: committed 2, remembered 5')
    expect(message).toContain('set it forward again, or reset the lane to accept duplicates')
    await moveOffset(world.cluster, lane, 5, committed.metadata)
    await resumeLane(world)
    await goesOn(world, [...values, ...more])
  })

  test('above a clean fence record, although it says it is ours: stopped', async () => {
    const { world, lane, values, committed } = await relayedFive()
    const more = await world.produce(3)
    await moveOffset(world.cluster, lane, 7, committed.metadata)
    const message = await stopsWith(world, 'OFFSET_MOVED')
    expect(message).toContain('partition 0: committed 7, remembered 5, and no window was under way')
    await resumeLane(world, 5)
    await goesOn(world, [...values, ...more])
  })

  test('far above the end of the log: no event is taken for relayed', async () => {
    const { world, lane, values } = await relayedFive()
    const more = await world.produce(3)
    await moveOffset(world.cluster, lane, 1_000_000)
    await stopsWith(world, 'OFFSET_MOVED')
    await resumeLane(world, 5)
    await goesOn(world, [...values, ...more])
  })
})

test('a stopped lane does not hold up its neighbours', async () => {
  const world = await relayWorld({ source: { partitions: 2 } })
  const values = await world.produce(3, 0)
  await ring(await world.container())
  await world.produce(3, 0)
  await moveOffset(world.cluster, world.lane(0), 1)
  values.push(...(await world.produce(3, 1)))
  const report = await ring(await world.container())
  expect(report).toMatchObject({ ok: true, lanes: [{ kind: 'stopped', code: 'OFFSET_MOVED' }, { kind: 'done' }] })
  expect(await world.delivered()).toEqual(values)
})
