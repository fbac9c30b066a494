import { describe, expect, test } from 'vitest'
import type { Bell } from '../../../lib/relay/bell.ts'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import { relayTopics } from '../../../lib/relay/relay-topics.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { ModelWorld } from '../../helpers/model-world.ts'
import { eventOf, onlyLane, pull } from '../../helpers/ringing.ts'

const ring = async (world: ModelWorld, runtime: RelayRuntime, bell: Bell) =>
  onlyLane(await world.run(runInvocation(runtime, bell, 'request', world.within(20_000))))

function makeAnew({ model }: ModelWorld): void {
  model.deleteTopic('source')
  model.createTopic({ name: 'source', partitions: 1, configs: { 'retention.ms': '-1' } })
}

/** A container that has relayed five records and believes its metadata; the source is then another one, of `count` records. */
async function madeAnew(count: number) {
  const world = new ModelWorld(2)
  world.produce(5)
  const { runtime } = await world.process()
  await ring(world, runtime, pull)
  makeAnew(world)
  world.produce(count)
  return { world, runtime }
}

describe.each([2, 5, 7])('a source made anew with %i records', (count) => {
  test.each([
    ['an event', eventOf('source', 0, count - 1)],
    ['an event of its first record', eventOf('source', 0, 0)],
    ['a pull', pull],
  ])('%s: none of it is called relayed in a container that knew the old one, and the lane stops', async (_, bell) => {
    const { world, runtime } = await madeAnew(count)
    const first = await ring(world, runtime, bell)
    if (first.kind !== 'stopped') expect(first).toMatchObject({ kind: 'failed', error: { code: 'BROKER_ERROR' } })
    expect(await ring(world, runtime, bell)).toMatchObject({ kind: 'stopped', code: 'SOURCE_REPLACED' })
  })
})

/** As a group coordinator leaves it that was away while the topic was deleted: the offset of the old topic still stands. */
function keepOffsetOver({ model, lane: { group }, clock }: ModelWorld, change: () => void): void {
  const coordinator = model.groupCoordinator(model.groupPartition(group).partition)
  const place = { topic: 'source', partition: 0 }
  const { committed } = coordinator.fetch(group, place, false)
  if (committed === null) throw new Error('nothing is committed')
  change()
  coordinator.commit(group, [{ ...committed, ...place }], clock.now())
}

describe.each([2, 5, 7])('a source made anew with %i records under an offset that outlived the old one', (count) => {
  test.each([
    ['an event', eventOf('source', 0, count - 1)],
    ['a pull', pull],
  ])(
    '%s: the lane stops in a warm container that has heard of the new one; nothing is taken for relayed',
    async (_, bell) => {
      const world = new ModelWorld(2)
      const values = world.produce(5)
      const { runtime } = await world.process()
      await ring(world, runtime, pull)
      keepOffsetOver(world, () => makeAnew(world))
      world.produce(count)
      await world.run(relayTopics(runtime, world.within(20_000), 'fresh'))
      expect(await ring(world, runtime, bell)).toMatchObject({ kind: 'stopped', code: 'SOURCE_REPLACED' })
      expect(world.delivered()).toEqual(values)
    },
  )
})

test('a lane that has not started begins with the source that is there, in a container that knew another one', async () => {
  const world = new ModelWorld(2)
  const { runtime } = await world.process()
  await world.run(relayTopics(runtime, world.within(20_000)))
  makeAnew(world)
  const values = world.produce(3)
  expect(await ring(world, runtime, pull)).toMatchObject({ kind: 'failed', error: { code: 'BROKER_ERROR' } })
  expect(await ring(world, runtime, pull)).toMatchObject({ kind: 'done' })
  expect(world.delivered()).toEqual(values)
})
