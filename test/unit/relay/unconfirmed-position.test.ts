import { describe, expect, test } from 'vitest'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { offsetsTopic } from '../../../lib/testing/broker-model/topics.ts'
import { ModelWorld } from '../../helpers/model-world.ts'
import { onlyLane, pull } from '../../helpers/ringing.ts'

const ring = async (world: ModelWorld, runtime: RelayRuntime) =>
  onlyLane(await world.run(runInvocation(runtime, pull, 'request', world.within(20_000))))

const coordinatorPartition = ({ model, lane }: ModelWorld) => model.groupPartition(lane.group)

/** Five records relayed by a container that stays warm, five more by one that dies before its release. */
async function twoOwners(protocol: 1 | 2, stop: number | null) {
  const world = new ModelWorld(protocol, { nodes: 2 })
  const values = world.produce(5)
  const warm = await world.process()
  await ring(world, warm.runtime)
  values.push(...world.produce(5))
  const { leader, partition } = coordinatorPartition(world)
  world.model.moveLeader({ topic: offsetsTopic, partition }, leader === 1 ? 2 : 1, 'stale')
  const other = await world.process(stop === null ? null : { step: stop, when: 'before' })
  await world.run(Promise.race([runInvocation(other.runtime, pull, 'request', world.within(20_000)), other.reached]))
  return { world, warm, values, steps: other.steps }
}

describe.each([2, 1] as const)('transaction protocol %i', (protocol) => {
  test('P1: a position that only an old coordinator has told is not remembered as the truth', async () => {
    const { steps } = await twoOwners(protocol, null)
    const { world, warm, values } = await twoOwners(protocol, steps)
    expect(world.delivered()).toEqual(values)
    await world.outliveLeases()
    values.push(...world.produce(5))

    const ending = await ring(world, { ...warm.runtime, stopping: AbortSignal.abort() })
    expect(ending).toMatchObject({ kind: 'failed', error: { code: 'OUT_OF_TIME' } })
    expect(await ring(world, (await world.process()).runtime)).toMatchObject({ kind: 'done' })
    expect(world.delivered()).toEqual(values)
  })
})
