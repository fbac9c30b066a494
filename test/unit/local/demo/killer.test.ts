import { expect, test } from 'vitest'
import { Killer } from '../../../../lib/local/demo/killer.ts'
import type { InvokeResult } from '../../../../lib/local/lambda-host/invoke-result.ts'
import type { LambdaHost } from '../../../../lib/local/lambda-host/lambda-host.ts'
import { seededRandom } from '../../../../lib/testing/seeded-random.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'

function scene(holders: readonly string[], states: Readonly<Record<string, 'busy' | 'frozen'>>, perMinute = 60) {
  const clock = new VirtualClock()
  const killed: { id: string; atMs: number }[] = []
  const began = clock.now()
  const host = {
    containers: () => Object.entries(states).map(([id, state]) => ({ id, state })),
    kill: (id: string) => killed.push({ id, atMs: clock.now() - began }) > 0,
  } as unknown as LambdaHost
  let silent = false
  const look = async () => {
    if (silent) throw new Error('the fence table does not answer')
    return holders
  }
  const parts = { host, perMinute, holders: look, clock, random: seededRandom(7) }
  const setSilent = (value: boolean) => {
    silent = value
  }
  return { clock, killed, killer: new Killer(parts), setSilent }
}

async function runFor(ms: number, { clock, killer }: ReturnType<typeof scene>): Promise<void> {
  const over = new AbortController()
  const running = killer.run(over.signal)
  await clock.advance(ms)
  over.abort()
  await running
}

const ending = (containerId: string, errorType: string | null) =>
  ({ status: errorType === null ? 'success' : 'error', containerId, payload: { errorType } }) as InvokeResult

test('about one container a second is killed, each while it is busy and holds a lane', async () => {
  const it = scene(['a', 'dead', 'frozen'], { a: 'busy', idle: 'busy', frozen: 'frozen' })
  await runFor(60_000, it)
  expect(it.killed.length).toBeGreaterThan(45)
  expect(it.killed.length).toBeLessThanOrEqual(60)
  expect(new Set(it.killed.map(({ id }) => id))).toEqual(new Set(['a']))
})

test('without a victim it waits for one', async () => {
  const it = scene(['dead'], { idle: 'busy' })
  await runFor(10_000, it)
  expect(it.killed).toEqual([])
})

test('0 a minute kills nobody', async () => {
  const it = scene(['a'], { a: 'busy' }, 0)
  await runFor(10_000, it)
  expect(it.killed).toEqual([])
})

test('only kills that ended an invocation count, each once', async () => {
  const it = scene(['a'], { a: 'busy' })
  await runFor(1_700, it)
  expect(it.killed).toHaveLength(1)
  it.killer.note(ending('b', 'Runtime.ExitError'))
  it.killer.note(ending('a', null))
  expect(it.killer.fired).toBe(0)
  it.killer.note(ending('a', 'Runtime.ExitError'))
  it.killer.note(ending('a', 'Runtime.ExitError'))
  expect(it.killer.fired).toBe(1)
})

test('a fence table that does not answer for a while keeps it waiting, and no longer', async () => {
  const it = scene(['a'], { a: 'busy' })
  it.setSilent(true)
  await runFor(10_000, it)
  expect(it.killed).toEqual([])
  it.setSilent(false)
  await runFor(10_000, it)
  expect(it.killed.length).toBeGreaterThan(5)
})
