import { expect, test } from 'vitest'
import { blockedForLong } from '../../../lib/relay/blocked.ts'
import { laneOf } from '../../../lib/relay/lane-id.ts'
import type { RelayDeployment } from '../../../lib/relay/runtime.ts'
import { hours } from '../../../lib/units.ts'
import { ScriptedCluster, topic } from '../../helpers/scripted-cluster.ts'

/** An open transaction whose last record is dated a day back, of a producer that nobody may tell us about. */
function judged(lastSequence: (look: number) => number) {
  const cluster: ScriptedCluster = new ScriptedCluster(
    {
      DescribeProducers: (_, __, look) => {
        const lastTimestamp = BigInt(cluster.clock.now() - hours(24))
        const transaction = { producerId: 7n, producerEpoch: 3, coordinatorEpoch: 0, currentTxnStartOffset: 5n }
        const activeProducers = [{ ...transaction, lastSequence: lastSequence(look), lastTimestamp }]
        const partitions = [{ partitionIndex: 0, errorCode: 0, errorMessage: null, activeProducers }]
        return { throttleTimeMs: 0, topics: [{ name: 'source', partitions }] }
      },
      DescribeConfigs: () => ({ throttleTimeMs: 0, results: [] }),
      ListTransactions: () => ({ throttleTimeMs: 0, errorCode: 0, unknownStateFilters: [], transactionStates: [] }),
    },
    [topic('source', 'id', [1]), topic('__transaction_state', 'log', [1])],
  )
  const deployment = { cluster, clock: cluster.clock } as unknown as RelayDeployment // all that is read of it
  const id = laneOf(0, 1, { prefix: 'shop', relay: 'copy', topic: 'source', partitionsPerLane: 1 })
  const stableUntil = new Map([[0, 5n]])
  const seen = { past: true, committed: stableUntil, allCommitted: true, stableUntil, heldBack: [0] }
  return cluster.run((deadline) => blockedForLong(deployment, id, seen, deadline))
}

test('R15: a transaction that stands still, its last record of long ago, holds the source back', async () => {
  expect(await judged(() => 9)).toMatchObject({ code: 'SOURCE_BLOCKED' })
})

test('one that grows is at work, however old its records say they are', async () => {
  expect(await judged((look) => 9 + look)).toBeNull()
})
