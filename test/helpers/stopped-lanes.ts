/** Lanes that have relayed something, that stop, and that go on when what stopped them is mended. */
import { expect } from 'vitest'
import { committedBy, fenceOf } from './operator.ts'
import { type RelayWorld, relayWorld, type WorldOptions } from './relay-world.ts'
import { onlyLane, pull, ring, stopOf } from './ringing.ts'

/** A lane that has relayed five records and was released clean. */
export async function relayedFive(options: WorldOptions = {}) {
  const world = await relayWorld(options)
  const values = await world.produce(5)
  await ring(await world.container())
  const lane = world.lane()
  return { world, lane, values, committed: await committedBy(world.cluster, lane) }
}

/** The stop is durable, answered with success, and left alone by every later ring. */
export async function stopsWith(world: RelayWorld, code: string): Promise<string> {
  const first = await stopOf(ring(await world.container(), pull))
  expect(first.code).toBe(code)
  const report = await ring(await world.container(), pull)
  expect(report).toMatchObject({ ok: true, lanes: [{ kind: 'stopped', ...first }] })
  expect((await fenceOf(world.fences, world.lane().transactionalId)).stopped).toMatchObject(first)
  return first.message
}

/** Mended: what came meanwhile is relayed once, behind what was relayed before. */
export async function goesOn({ container, delivered }: RelayWorld, values: readonly string[]): Promise<void> {
  expect(onlyLane(await ring(await container(), pull))).toMatchObject({ kind: 'done' })
  expect(await delivered()).toEqual(values)
}
