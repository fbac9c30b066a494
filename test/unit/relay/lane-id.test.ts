import fc from 'fast-check'
import { expect, test } from 'vitest'
import { laneOf, lanesOf } from '../../../lib/relay/lane-id.ts'

const naming = (partitionsPerLane: number) => ({
  prefix: 'shop',
  relay: 'delays',
  topic: 'flights.v1',
  partitionsPerLane,
})

test('lanes divide the partitions: each in exactly one lane, in order, whatever the counts', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 20 }), (count, each) => {
      const all = Array.from({ length: count }, (_, partition) => partition)
      const owned = lanesOf(all, count, naming(each)).flatMap(({ partitions }) => [...partitions])
      expect(owned).toEqual(all)
    }),
  )
})

test('a lane keeps its id when partitions are added', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 9 }),
      (count, more, each) => {
        for (let partition = 0; partition < count; partition++) {
          const before = laneOf(partition, count, naming(each))
          const after = laneOf(partition, count + more, naming(each))
          expect(after.transactionalId).toBe(before.transactionalId)
          expect(after.partitions.slice(0, before.partitions.length)).toEqual(before.partitions)
        }
      },
    ),
  )
})

test('the names carry prefix, relay, topic and lane', () => {
  const lane = laneOf(5, 8, naming(2))
  expect(lane.transactionalId).toBe('shop.delays.flights.v1.2')
  expect(lane.group).toBe('shop.delays')
  expect(lane.partitions).toEqual([4, 5])
})
