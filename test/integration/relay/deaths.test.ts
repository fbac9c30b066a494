import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DyingContainer } from '../../helpers/dying-container.ts'
import { hastyClock } from '../../helpers/hasty-clock.ts'
import { fenceTableName, type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { eventOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { dynamoDbEndpoint } from '../../helpers/stack.ts'

const script = join(import.meta.dirname, '..', '..', 'helpers', 'dying-container.ts')

/** Each container's clock is further ahead than the one before: the leases of the dead have run out for it. */
let aheadMs = 0

/** Runs containers one after another until one lives, at most `most`; answers how many died. */
async function runUntilOneLives(world: RelayWorld, dies: DyingContainer['dies'], lastOffset: number, most: number) {
  const table = { table: fenceTableName, ...(await dynamoDbEndpoint()) }
  const { brokers, names, prefix } = world
  for (let deaths = 0; deaths < most; deaths++) {
    aheadMs += 60_000
    const told: DyingContainer = { brokers, names, prefix, table, lastOffset, aheadMs, dies }
    const child = spawn(process.execPath, [script, JSON.stringify(told)], { stdio: 'inherit' })
    const [code, signal] = await once(child, 'exit')
    if (code === 0) return deaths
    expect(signal).toBe('SIGKILL')
  }
  return most
}

test('deaths outside of a transform blame no record, however many', async () => {
  const world = await relayWorld()
  const values = await world.produce(2)
  await runUntilOneLives(world, { inTransformOf: values[0] ?? '' }, 1, 1)
  expect(await runUntilOneLives(world, { atStage: 'commit' }, 1, 4)).toBe(4)
  const clock = hastyClock()
  clock.skip(aheadMs + 60_000)
  const survivor = await world.container({ clock })
  expect(onlyLane(await ring(survivor, eventOf(world.names.source, 0, 1)))).toMatchObject({ kind: 'done' })
  expect(await world.delivered()).toEqual(values)
  expect(await world.buried()).toEqual([])
}, 120_000)
