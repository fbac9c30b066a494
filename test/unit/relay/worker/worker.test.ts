import { expect, test } from 'vitest'
import { acquireFence } from '../../../../lib/fencing/fence.ts'
import { runInvocation } from '../../../../lib/relay/invocation.ts'
import { Worker } from '../../../../lib/relay/worker/worker.ts'
import { minutes, seconds } from '../../../../lib/units.ts'
import { ModelWorld } from '../../../helpers/model-world.ts'
import { editFence } from '../../../helpers/operator.ts'

const options = { shiftMs: seconds(15), drainMs: seconds(5), sweepEveryMs: minutes(5), onTrouble: () => undefined }

test('R13: windows are commitEvery apart, however many shifts lie between them', async () => {
  const world = new ModelWorld(2)
  const { runtime } = await world.process()
  const relay = { ...runtime.relay, commitEveryMs: minutes(1) }
  const committedAtMs: number[] = []
  const observer = { windowCommitted: () => void committedAtMs.push(world.clock.now()) }
  const stopping = new AbortController()
  const worker = new Worker({ ...runtime, relay, observer, stopping: stopping.signal }, options)

  const trickle = async () => {
    for (let record = 0; record < 100; record++) {
      world.produce(1)
      await world.clock.sleep(seconds(2))
    }
    stopping.abort()
  }
  const [isDrained] = await world.run(Promise.all([worker.run(), trickle()]))

  const gapsMs = committedAtMs.slice(1).map((atMs, index) => atMs - (committedAtMs[index] ?? 0))
  expect(isDrained).toBe(true)
  expect(committedAtMs.length, 'of 200 s').toBeGreaterThanOrEqual(3)
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(minutes(1))
})

test.each(['earliest', 'event'] as const)(
  'sweeps what a dead owner left of a relay that starts at: %s',
  async (startAt) => {
    const world = new ModelWorld(2)
    const { runtime } = await world.process()
    const { fences, random, settings } = runtime
    const id = world.lane.transactionalId
    world.produce(3)
    await world.run(runInvocation(runtime, { kind: 'pull', lingerUntilMs: null }, 'r1', world.within(seconds(10))))
    const request = { id, container: 'dead', requestId: 'r2', generation: null, held: null, acceptStopped: false }
    const lease = { leaseMs: settings.leaseMs, leaseMaxMs: settings.leaseMs, mayPreempt: true, offsetsFound: true }
    await acquireFence(fences, world.clock, random, { ...request, ...lease }, world.within(seconds(10)))
    await world.outliveLeases()

    const stopping = new AbortController()
    const relay = { ...runtime.relay, startAt }
    const worker = new Worker({ ...runtime, relay, stopping: stopping.signal }, options)
    const [isDrained] = await world.run(
      Promise.all([worker.run(), world.clock.sleep(seconds(5)).then(() => stopping.abort())]),
    )
    expect(isDrained).toBe(true)
    expect(await fences.read(id, world.within(seconds(1)))).toMatchObject({ dirty: false, owner: null, stopped: null })
  },
)

test.each([
  ['an older deployment', { generation: 8 }],
  ['a deployment that was withdrawn', { generation: 0, withdrawn: { above: 6, upTo: 7, atMs: 0 } }],
])('a worker of %s leaves its share of the lanes to the others (R14)', async (_, owned) => {
  const world = new ModelWorld(2)
  const { runtime } = await world.process()
  world.produce(1)
  await world.run(runInvocation(runtime, { kind: 'pull', lingerUntilMs: null }, 'r1', world.within(seconds(10))))
  await editFence(world.fences, world.lane.transactionalId, { ...owned, generationAtMs: world.clock.now() })
  const values = world.produce(3)
  const stopping = new AbortController()
  const workerOf = async (generation: number) => {
    const { runtime } = await world.process()
    const settings = { ...runtime.settings, generation, container: `of ${generation}` }
    return new Worker({ ...runtime, settings, stopping: stopping.signal }, options)
  }
  const [refused, welcome] = [await workerOf(7), await workerOf(8)]

  const work = async () => {
    await world.clock.sleep(seconds(3)) // the first of the crew has the only lane's share
    const working = welcome.run()
    await world.clock.sleep(seconds(20))
    stopping.abort()
    return working
  }
  await world.run(Promise.all([refused.run(), work()]))
  expect(world.delivered().slice(1)).toEqual(values)
})
