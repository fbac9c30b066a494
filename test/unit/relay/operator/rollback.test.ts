import { describe, expect, test } from 'vitest'
import type { FenceRecord } from '../../../../lib/fencing/fence-record.ts'
import { createMemoryFenceStore } from '../../../../lib/fencing/memory-fence-store.ts'
import { laneOf } from '../../../../lib/relay/lane-id.ts'
import { planRollback, type RollbackPlan } from '../../../../lib/relay/operator/rollback.ts'
import type { RelayDeployment } from '../../../../lib/relay/runtime.ts'
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
