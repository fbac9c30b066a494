import { expect, test } from 'vitest'
import { lanesOf } from '../../../lib/relay/lane-id.ts'
import { pinnedCounts } from '../../../lib/verify/read-fences.ts'
import { fenceRecord } from '../../helpers/fences.ts'

const lanes = lanesOf([0, 1, 2], 3, { prefix: 'p', relay: 'copy', topic: 'in', partitionsPerLane: 1 })
const scope = {
  clusterId: 'cluster',
  group: 'p.copy',
  lanes,
  sources: [0, 1, 2].map((partition) => ({ topic: 'in', topicId: 'id', partition })),
  outputs: [],
  partitionCounts: new Map([['out', 8]]),
}
const idOf = (partition: number): string => lanes[partition]?.transactionalId ?? ''

test('each lane counts the partitions of an output as it has pinned them, not as another lane has that began later', () => {
  const fences = new Map([
    [idOf(0), fenceRecord({ outputPartitions: new Map([['out', 4]]) })],
    [idOf(1), fenceRecord({ outputPartitions: new Map([['out', 6]]) })],
    [idOf(2), null],
  ])
  expect(pinnedCounts(scope, fences).map((counts) => counts.get('out'))).toEqual([4, 6, 8])
})

test('without fence records the partitions count that there are now', () => {
  expect(pinnedCounts(scope, 'not read').map((counts) => counts.get('out'))).toEqual([8, 8, 8])
})
