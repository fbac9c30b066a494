import { describe, expect, test } from 'vitest'
import type { FenceRecord } from '../../../lib/fencing/fence-record.ts'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import { planReset } from '../../../lib/relay/operator/plan-reset.ts'
import { resetLane } from '../../../lib/relay/operator/reset-lane.ts'
import { relayTopics } from '../../../lib/relay/relay-topics.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { soon } from '../../helpers/fences.ts'
import { ModelWorld } from '../../helpers/model-world.ts'
import { fenceOf } from '../../helpers/operator.ts'
import { onlyLane, pull } from '../../helpers/ringing.ts'

const ring = async (world: ModelWorld, runtime: RelayRuntime) =>
  onlyLane(await world.run(runInvocation(runtime, pull, 'request', world.within(20_000))))

async function reset(world: ModelWorld, to: bigint): Promise<void> {
  const { runtime } = await world.process()
  const deadline = world.within(20_000)
  const topics = await world.run(relayTopics(runtime, deadline))
  const place = { to: 'offsets', offsets: new Map([[0, to]]) } as const
  const [plan] = await world.run(
    planReset(runtime, topics, { lanes: [world.lane], place, acceptNewSource: false }, deadline),
  )
  if (plan === undefined) throw new Error('there is no plan')
  await world.run(resetLane(runtime, topics, plan, deadline))
}

/** The table holds nothing but this copy. */
async function restore({ fences }: ModelWorld, record: FenceRecord): Promise<void> {
  fences.close()
  await fences.write({ kind: 'create', record, writer: 'backup' }, soon())
}

/** Ten records relayed, the lane reset to 2, and the table then restored to what it was before the reset. */
async function restoredBehindReset(protocol: 1 | 2) {
  const world = new ModelWorld(protocol)
  const values = world.produce(10)
  await ring(world, (await world.process()).runtime)
  const copy = await fenceOf(world.fences, world.lane.transactionalId)
  await reset(world, 2n)
  await restore(world, copy)
  return { world, expected: [...values, ...values.slice(2)] }
}

describe.each([2, 1] as const)('transaction protocol %i', (protocol) => {
  test('S8, S9: a table restored to before a reset backwards does not stop the lane', async () => {
    const { world, expected } = await restoredBehindReset(protocol)
    const ending = await ring(world, { ...(await world.process()).runtime, stopping: AbortSignal.abort() })
    expect(ending).toMatchObject({ kind: 'failed', error: { code: 'OUT_OF_TIME' } })
    expect(await ring(world, (await world.process()).runtime)).toMatchObject({ kind: 'done' })
    expect(world.delivered()).toEqual(expected)
  })

  test('S8, S9: a window that ends below what the restored table remembers is released like any other', async () => {
    const { world, expected } = await restoredBehindReset(protocol)
    const { runtime } = await world.process()
    const stopping = new AbortController()
    const oneWindow: RelayRuntime = {
      ...runtime,
      stopping: stopping.signal,
      relay: { ...runtime.relay, window: { ...runtime.relay.window, recordsMax: 3 } },
      observer: { windowCommitted: () => stopping.abort() },
    }
    expect(await ring(world, oneWindow)).toMatchObject({ kind: 'failed', windows: 1, error: { code: 'OUT_OF_TIME' } })
    expect(await fenceOf(world.fences, world.lane.transactionalId)).toMatchObject({ owner: null, dirty: false })
    expect(await ring(world, (await world.process()).runtime)).toMatchObject({ kind: 'done' })
    expect(world.delivered()).toEqual(expected)
  })
})
