import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DyingContainer } from '../../helpers/dying-container.ts'
import { hastyClock } from '../../helpers/hasty-clock.ts'
import { fenceOf } from '../../helpers/operator.ts'
import { recordsCommitted } from '../../helpers/read-committed.ts'
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

test('a record that kills the process is dead-lettered after its deaths alone, and no other one with it', async () => {
  const world = await relayWorld()
  const values = await world.produce(8)
  const poison = values[5] ?? ''
  const deaths = await runUntilOneLives(world, { inTransformOf: poison }, 7, 15)
  expect(deaths).toBeGreaterThanOrEqual(3)
  expect(deaths).toBeLessThan(15)
  expect(await world.delivered()).toEqual(values.filter((value) => value !== poison))
  const [letter, ...more] = await recordsCommitted(world.cluster, world.names.dead, 1)
  expect(more).toEqual([])
  expect(String(letter?.value)).toBe(poison)
  const header = (name: string) => String(letter?.headers.find(({ key }) => key === `fencepost.${name}`)?.value)
  expect(header('error.code')).toBe('POISON_RECORD')
  expect(header('error.message')).toContain(`record ${world.names.source}/0/5 ended the process 3 times, alone`)
  const record = await fenceOf(world.fences, world.lane().transactionalId)
  expect(record).toMatchObject({ attempts: 0, intent: null, working: false, dirty: false })
}, 120_000)

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
