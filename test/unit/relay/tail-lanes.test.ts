import { describe, expect, test } from 'vitest'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import { seconds } from '../../../lib/units.ts'
import { type ModelProcess, ModelWorld } from '../../helpers/model-world.ts'
import { onlyLane, pull } from '../../helpers/ringing.ts'

const timeoutMs = seconds(60)

const linger = (world: ModelWorld, { runtime }: ModelProcess) => {
  const deadline = world.within(timeoutMs)
  return runInvocation(runtime, { kind: 'pull', lingerUntilMs: deadline.atMs }, 'request', deadline)
}

/** A relay that has caught up: its lane has nothing to do when the pull begins. */
async function quietWorld(protocol: 1 | 2) {
  const world = new ModelWorld(protocol)
  world.produce(1)
  const process = await world.process()
  await world.run(runInvocation(process.runtime, pull, 'before', world.within(timeoutMs)))
  return { world, process, startedAtMs: world.clock.now() }
}

describe.each([2, 1] as const)('a lingering pull, transaction protocol %i', (protocol) => {
  test('relays within seconds what comes to a lane that was quiet when it began, and tails it from then on', async () => {
    const { world, process, startedAtMs } = await quietWorld(protocol)
    const seenAfterMs: number[] = []
    const running = linger(world, process)
    const watching = (async () => {
      for (const atSeconds of [20, 40]) {
        await world.clock.sleep(startedAtMs + seconds(atSeconds) - world.clock.now())
        const [value] = world.produce(1)
        const writtenAtMs = world.clock.now()
        while (!world.delivered().includes(value ?? '')) await world.clock.sleep(50)
        seenAfterMs.push(world.clock.now() - writtenAtMs)
      }
    })()
    const [report] = await world.run(Promise.all([running, watching]))
    expect(onlyLane(report)).toMatchObject({ kind: 'done', windows: 2 })
    expect(Math.max(...seenAfterMs)).toBeLessThan(seconds(3))
    expect(world.delivered()).toEqual(['v0', 'v1', 'v2'])
  })

  test('takes no fence of a lane for which nothing comes, and ends in time', async () => {
    const { world, process, startedAtMs } = await quietWorld(protocol)
    const before = await world.fences.read(world.lane.transactionalId, world.within(timeoutMs))
    const report = await world.run(linger(world, process))
    expect(onlyLane(report)).toMatchObject({ kind: 'done', windows: 0 })
    expect(await world.fences.read(world.lane.transactionalId, world.within(timeoutMs))).toEqual(before)
    expect(world.clock.now() - startedAtMs).toBeGreaterThan(timeoutMs - seconds(5))
    expect(world.clock.now() - startedAtMs).toBeLessThan(timeoutMs)
  })

  test('goes on watching over brokers that are away for a while', async () => {
    const { world, process, startedAtMs } = await quietWorld(protocol)
    const until = (atSeconds: number) => world.clock.sleep(startedAtMs + seconds(atSeconds) - world.clock.now())
    const outage = (async () => {
      await until(10)
      world.model.stopNode(1)
      await until(25)
      world.model.startNode(1)
      world.produce(1)
    })()
    const [report] = await world.run(Promise.all([linger(world, process), outage]))
    expect(onlyLane(report)).toMatchObject({ kind: 'done', windows: 1 })
    expect(world.delivered()).toEqual(['v0', 'v1'])
  })

  test('fails when it could not see for the rest of its time whether something had come', async () => {
    const { world, process, startedAtMs } = await quietWorld(protocol)
    const outage = world.clock.sleep(seconds(30)).then(() => world.model.stopNode(1))
    const failure = linger(world, process).catch((error) => error)
    const [error] = await world.run(Promise.all([failure, outage]))
    expect(error).toMatchObject({ code: 'BROKER_UNAVAILABLE' })
    expect(world.clock.now() - startedAtMs).toBeLessThan(timeoutMs)
  })
})
