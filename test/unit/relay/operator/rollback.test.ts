import { describe, expect, test } from 'vitest'
import { deadlineIn, systemClock, systemRandom } from '../../../../lib/clock.ts'
import type { FenceRecord } from '../../../../lib/fencing/fence-record.ts'
import { withdrawals } from '../../../../lib/fencing/fence-rules.ts'
import type { FenceStore } from '../../../../lib/fencing/fence-store.ts'
import { createMemoryFenceStore } from '../../../../lib/fencing/memory-fence-store.ts'
import { laneOf } from '../../../../lib/relay/lane-id.ts'
import { planRollback, type RollbackPlan, rollBackLane } from '../../../../lib/relay/operator/rollback.ts'
import type { RelayDeployment } from '../../../../lib/relay/runtime.ts'
import { VirtualClock } from '../../../../lib/testing/virtual-clock.ts'
import { freeRecord, soon } from '../../../helpers/fences.ts'

const lanes = [0, 1, 2].map((partition) =>
  laneOf(partition, 3, { prefix: 'shop', relay: 'copy', topic: 'source', partitionsPerLane: 1 }),
)

/** A plan over lanes 0, 1 ... that have these records; the others have none. */
async function plan(records: readonly Partial<FenceRecord>[], over: Partial<Record<'withdraw' | 'to', number>> = {}) {
  const fences = createMemoryFenceStore()
  for (const [lane, record] of records.entries()) {
    const id = lanes[lane]?.transactionalId ?? ''
    await fences.write({ kind: 'create', record: freeRecord({ ...record, id }), writer: 'test' }, soon())
  }
  const deployment = { fences } as RelayDeployment // all that a plan reads
  return planRollback(deployment, { lanes, withdraw: null, to: null, ...over }, soon())
}

const summary = ({ withdraw, above, lanes }: RollbackPlan) => [withdraw, above, lanes.map(({ isDone }) => isDone)]
const withdrawn = { above: 7, upTo: 8, atMs: 0 }

describe('what a rollback withdraws', () => {
  test('is the newest deployment that has had any lane, from all lanes that were ever begun', async () => {
    expect(summary(await plan([{ generation: 7 }, { generation: 8 }]))).toEqual([8, 7, [false, false]])
  })

  test('stays the same when it is asked again, half done or done, whoever has the lanes now', async () => {
    expect(summary(await plan([{ generation: 0, withdrawn }, { generation: 8 }]))).toEqual([8, 7, [true, false]])
    expect(
      summary(
        await plan([
          { generation: 7, withdrawn },
          { generation: 6, withdrawn },
        ]),
      ),
    ).toEqual([8, 7, [true, true]])
  })

  test('is the next deployment once there is one', async () => {
    expect(summary(await plan([{ generation: 10, withdrawn }]))).toEqual([10, 9, [false]])
  })

  test('still has in it what was withdrawn right before it: nobody goes back to that', async () => {
    expect(summary(await plan([{ generation: 9, withdrawn }]))).toEqual([9, 7, [false]])
    expect(summary(await plan([{ generation: 0, withdrawn: { ...withdrawn, above: 5 } }]))).toEqual([8, 5, [true]])
    expect(summary(await plan([{ generation: 9, withdrawn }], { to: 8 })), 'unless it is named').toEqual([
      9,
      8,
      [false],
    ])
  })

  test('may be named, with all between it and the one to go back to', async () => {
    expect(summary(await plan([{ generation: 8 }], { withdraw: 8, to: 5 }))).toEqual([8, 5, [false]])
    await expect(plan([{ generation: 8 }], { to: 8 })).rejects.toThrow(/8 is not older than 8/)
  })

  test('is refused where no deployment had a number', async () => {
    await expect(plan([{ generation: 0 }])).rejects.toThrow(/CONFIG_INVALID: .*FENCEPOST_GENERATION/)
  })
})

describe('what a rollback leaves behind', () => {
  test('every earlier withdrawal still counts, however far its number is from the newest', async () => {
    const record = await rolledBack({ generation: 3_000, withdrawn: { above: 1_999, upTo: 2_000, atMs: 0 } })
    expect(record).toMatchObject({ generation: 0, withdrawn: { above: 2_999, upTo: 3_000 } })
    expect(withdrawals(record)).toEqual([
      [1_999, 2_000],
      [2_999, 3_000],
    ])
  })

  test('a deployment that is named to go back to is welcome again', async () => {
    const before = { withdrawn, withdrawnBefore: new Map([[2, 3]]) }
    expect(withdrawals(await rolledBack({ generation: 9, ...before }, 8))).toEqual([
      [2, 3],
      [8, 9],
    ])
    const wrong = { generation: 0, withdrawn }
    const named = await rolledBack(wrong, 8, 9)
    expect(withdrawals(named), 'also where it was withdrawn by mistake, and the newest never had a lane').toEqual([
      [8, 9],
    ])
    const again = { generation: 0, withdrawn: { above: 8, upTo: 9, atMs: 0 }, withdrawnBefore: new Map([[7, 8]]) }
    expect(summary(await plan([again]))).toEqual([9, 8, [true]])
    expect(summary(await plan([again], { to: 8 })), 'which is not done while it is withdrawn').toEqual([9, 8, [false]])
  })
})

test('a lane that is taken from the rollback while it has it is waited for once more', async () => {
  const [lane] = lanes
  if (!lane) throw new Error('there is no lane')
  const [id, clock, store] = [lane.transactionalId, new VirtualClock(), createMemoryFenceStore()]
  const record = freeRecord({ generation: 8, id })
  await store.write({ kind: 'create', record, writer: 'test' }, soon())
  let losses = 5 // as many races as one acquire runs
  const fences: FenceStore = {
    ...store,
    read: (...asked) => store.read(...asked),
    write: async (...asked) => (losses-- > 0 ? { kind: 'lost', record } : store.write(...asked)),
  }
  const settings = { container: 'operator', leaseMs: 5_000, renewEveryMs: 2_000 }
  const deployment = { fences, settings, clock, random: systemRandom } as unknown as RelayDeployment // all that a rollback reads
  const rollback = { withdraw: 8, above: 7, welcome: null }
  const each = { id: lane, generation: 8, isDone: false }
  await clock.run(rollBackLane(deployment, each, rollback, deadlineIn(clock, 60_000)))
  expect(await store.read(id, soon())).toMatchObject({ owner: null, withdrawn: { above: 7, upTo: 8 } })
})

/** A lane's record after the newest deployment was withdrawn from it. */
async function rolledBack(
  over: Partial<FenceRecord>,
  to: number | null = null,
  withdraw: number | null = null,
): Promise<FenceRecord> {
  const [lane] = lanes
  if (!lane) throw new Error('there is no lane')
  const [id, fences] = [lane.transactionalId, createMemoryFenceStore()]
  await fences.write({ kind: 'create', record: freeRecord({ ...over, id }), writer: 'test' }, soon())
  const settings = { container: 'operator', leaseMs: 5_000, renewEveryMs: 2_000 }
  const deployment = { fences, settings, clock: systemClock, random: systemRandom } as RelayDeployment
  const plan = await planRollback(deployment, { lanes: [lane], withdraw, to }, soon())
  for (const each of plan.lanes) await rollBackLane(deployment, each, plan, soon())
  const record = await fences.read(id, soon())
  if (!record) throw new Error('the record is gone')
  return record
}
