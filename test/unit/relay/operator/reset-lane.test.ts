import { describe, expect, test } from 'vitest'
import { runInvocation } from '../../../../lib/relay/invocation.ts'
import { planReset } from '../../../../lib/relay/operator/plan-reset.ts'
import { resetLane } from '../../../../lib/relay/operator/reset-lane.ts'
import { relayTopics } from '../../../../lib/relay/relay-topics.ts'
import type { RelayRuntime } from '../../../../lib/relay/runtime.ts'
import { type ModelProcess, ModelWorld, type StopPoint } from '../../../helpers/model-world.ts'
import { editFence, fenceOf } from '../../../helpers/operator.ts'
import { onlyLane, pull } from '../../../helpers/ringing.ts'

const stopped = { code: 'OFFSET_MOVED', message: 'somebody did it', atMs: 1 }
const places = { backwards: 2n, forwards: 7n } as const

/** Five records relayed, five more there, and the lane is stopped. */
async function stoppedLane(protocol: 1 | 2) {
  const world = new ModelWorld(protocol)
  const first = world.produce(5)
  await ring(world, (await world.process()).runtime)
  const all = [...first, ...world.produce(5)]
  await editFence(world.fences, world.lane.transactionalId, { stopped })
  const expected = (to: bigint) => [...first, ...all.slice(Number(to))]
  return { world, first, expected }
}

const ring = async (world: ModelWorld, runtime: RelayRuntime) =>
  onlyLane(await world.run(runInvocation(runtime, pull, 'request', world.within(20_000))))

/** Where it shall go, as an operator has agreed to it. */
async function planned(world: ModelWorld, to: bigint) {
  const { runtime } = await world.process()
  const deadline = world.within(20_000)
  const topics = await world.run(relayTopics(runtime, deadline))
  const place = { to: 'offsets', offsets: new Map([[0, to]]) } as const
  const question = { lanes: [world.lane], place, acceptNewSource: false }
  const [plan] = await world.run(planReset(runtime, topics, question, deadline))
  if (!plan) throw new Error('there is no plan')
  return { topics, plan }
}

type Planned = Awaited<ReturnType<typeof planned>>

const execute = (world: ModelWorld, { runtime }: ModelProcess, { topics, plan }: Planned): Promise<void> =>
  resetLane(runtime, topics, plan, world.within(20_000))

/** Nothing disturbs it. */
async function reset(world: ModelWorld, to: bigint): Promise<void> {
  await world.run(execute(world, await world.process(), await planned(world, to)))
}

/** Requests of a reset that nothing disturbs. */
async function stepsOf(protocol: 1 | 2): Promise<number> {
  const { world } = await stoppedLane(protocol)
  const process = await world.process()
  await world.run(execute(world, process, await planned(world, 2n)))
  return process.steps
}

async function eachStop(protocol: 1 | 2, see: (stop: StopPoint) => Promise<void>): Promise<number> {
  const steps = await stepsOf(protocol)
  for (let step = 1; step <= steps; step++) {
    for (const when of ['before', 'after'] as const) await see({ step, when })
  }
  return steps
}

describe.each([2, 1] as const)('transaction protocol %i', (protocol) => {
  describe.each(['backwards', 'forwards'] as const)('a lane that is reset %s', (direction) => {
    const to = places[direction]

    test('goes on from there at the next bell, and its record is clean', async () => {
      const { world, expected } = await stoppedLane(protocol)
      await reset(world, to)
      expect(await fenceOf(world.fences, world.lane.transactionalId)).toMatchObject({
        ...{ stopped: null, resetTo: null, owner: null, dirty: false, working: false, attempts: 0 },
        committedUntil: new Map([[0, to]]),
        committedAtMs: world.clock.now(),
      })
      expect(await ring(world, (await world.process()).runtime)).toMatchObject({ kind: 'done' })
      expect(world.delivered()).toEqual(expected(to))
    })

    test('by a process that dies at any step: still stopped where it was, or finished by the next bell', async () => {
      const seen = { stopped: 0, done: 0 }
      const steps = await eachStop(protocol, async (stop) => {
        const { world, first, expected } = await stoppedLane(protocol)
        const plan = await planned(world, to)
        const dying = await world.process(stop)
        await world.run(Promise.race([execute(world, dying, plan), dying.reached]))
        await world.outliveLeases()
        const { runtime } = await world.process()
        const { kind } = await ring(world, runtime)
        if (kind === 'stopped') {
          expect(world.delivered()).toEqual(first)
          await reset(world, to)
          await ring(world, runtime)
        }
        seen[kind === 'stopped' ? 'stopped' : 'done']++
        expect(world.delivered(), JSON.stringify(stop)).toEqual(expected(to))
      })
      expect(steps).toBeGreaterThan(12)
      expect(seen.stopped).toBeGreaterThan(5)
      expect(seen.done).toBeGreaterThan(5)
    })

    test('by a process that dies at any step: a second reset goes where it is told, whatever became of the first', async () => {
      const other = places[direction === 'backwards' ? 'forwards' : 'backwards']
      await eachStop(protocol, async (stop) => {
        const { world, expected } = await stoppedLane(protocol)
        const plan = await planned(world, to)
        const dying = await world.process(stop)
        await world.run(Promise.race([execute(world, dying, plan), dying.reached]))
        await world.outliveLeases()
        await reset(world, other)
        await ring(world, (await world.process()).runtime)
        expect(world.delivered(), JSON.stringify(stop)).toEqual(expected(other))
      })
    })

    test('by a process that sleeps at any step until another owner has finished: it wakes and moves nothing', async () => {
      await eachStop(protocol, async (stop) => {
        const { world, expected } = await stoppedLane(protocol)
        const plan = await planned(world, to)
        const sleepy = await world.process(stop, 'pauses')
        const resetting = execute(world, sleepy, plan).catch((error) => error)
        await world.run(Promise.race([resetting, sleepy.reached]))
        await world.outliveLeases()
        await reset(world, to)
        await ring(world, (await world.process()).runtime)
        sleepy.goOn()
        await world.run(resetting)
        await world.outliveLeases()
        const late = await ring(world, (await world.process()).runtime)
        expect(late, JSON.stringify(stop)).toMatchObject({ kind: 'done' })
        expect(world.delivered(), JSON.stringify(stop)).toEqual(expected(to))
      })
    })
  })

  test('a living lease is not taken: the reset is refused by name and nothing changes', async () => {
    const { world } = await stoppedLane(protocol)
    const owner = { nonce: 'n', container: 'function-1', requestId: 'request-7' }
    const leaseUntilMs = world.clock.now() + 3_000
    await editFence(world.fences, world.lane.transactionalId, { stopped: null, owner, leaseUntilMs })
    const before = await fenceOf(world.fences, world.lane.transactionalId)
    await expect(reset(world, 2n)).rejects.toThrow(
      /LANE_LEASED: lane model\.copy\.source\.0 is held by function-1 \(request request-7\).* another 3000 ms/,
    )
    expect(await fenceOf(world.fences, world.lane.transactionalId)).toEqual(before)
  })

  test('an order that comes late is refused: the lane was opened since it was planned', async () => {
    const { world, first } = await stoppedLane(protocol)
    await editFence(world.fences, world.lane.transactionalId, { stopped: null })
    const plan = await planned(world, 2n)
    await ring(world, (await world.process()).runtime)
    const late = world.run(execute(world, await world.process(), plan))
    await expect(late).rejects.toThrow(/RESET_REFUSED: lane .* was opened since the reset was planned/)
    expect(world.delivered().length).toBe(first.length + 5)
    expect(await fenceOf(world.fences, world.lane.transactionalId)).toMatchObject({ owner: null, resetTo: null })
  })

  test('a lane that has never started begins where the reset says', async () => {
    const world = new ModelWorld(protocol)
    const values = world.produce(5)
    await reset(world, 3n)
    await ring(world, (await world.process()).runtime)
    expect(world.delivered()).toEqual(values.slice(3))
  })
})
