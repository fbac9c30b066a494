import { describe, expect, test } from 'vitest'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { type ModelProcess, ModelWorld, type StopPoint } from '../../helpers/model-world.ts'
import { onlyLane, pull } from '../../helpers/ringing.ts'

const partitionsPerLane = 2

const twoPerLane = ({ runtime }: ModelProcess): RelayRuntime => ({
  ...runtime,
  relay: { ...runtime.relay, partitionsPerLane },
})

const invoke = (world: ModelWorld, process: ModelProcess) =>
  runInvocation(twoPerLane(process), pull, 'request', world.within(20_000))

/** An owner dies at work; then the lane gets a second partition, and another owner that stops as a test wants. */
async function grownLane(protocol: 1 | 2, firstStop: number | null, stop: StopPoint | null) {
  const world = new ModelWorld(protocol)
  world.produce(5)
  const first = await world.process(firstStop === null ? null : { step: firstStop, when: 'before' })
  await world.run(Promise.race([invoke(world, first), first.reached]))
  await world.outliveLeases()
  const source = world.model.topics.find('source')
  if (source === undefined) throw new Error('there is no source')
  world.model.growTopic(source, partitionsPerLane)
  const next = await world.process(stop)
  await world.run(Promise.race([invoke(world, next), next.reached]))
  return { world, steps: { first: first.steps, next: next.steps } }
}

describe.each([2, 1] as const)('transaction protocol %i', (protocol) => {
  test('a lane of a dead owner gets a partition, and its next owner dies at any step: nobody calls an offset lost', async () => {
    const { steps: undisturbed } = await grownLane(protocol, null, null)
    const { steps } = await grownLane(protocol, undisturbed.first, null)
    for (let step = 1; step <= steps.next; step++) {
      for (const when of ['before', 'after'] as const) {
        const { world } = await grownLane(protocol, undisturbed.first, { step, when })
        await world.outliveLeases()
        const last = onlyLane(await world.run(invoke(world, await world.process())))
        expect(last, `died ${when} step ${step}`).toMatchObject({ kind: 'done' })
        expect(world.delivered()).toEqual(['v0', 'v1', 'v2', 'v3', 'v4'])
        expect(last.id.partitions).toEqual([0, 1])
      }
    }
  })
})
