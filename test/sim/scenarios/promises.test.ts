import { describe, expect, it } from 'vitest'
import { topics } from '../sim-relay.ts'
import { perform, type Stage } from './stage.ts'

const lanes = { sourcePartitions: 1, partitionsPerLane: 1, outputPartitions: 1, windowRecords: 10 }

/** How many records the source holds. */
const written = (stage: Stage): number => stage.values(topics.source).length

describe.each([1, 2] as const)('protocol %i', (protocol) => {
  it("guarantee 'none': outputs that have to be sent again have left before their container is frozen (seed 1088)", async () => {
    await perform({ protocol, lanes, promise: { guarantee: 'none', read: 'log' } }, async (stage) => {
      const { model } = stage.world
      const container = await stage.container()
      stage.write(1, 0, 'once')
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      const place = { topic: topics.out, partition: 0 }
      const leader = model.topics.partition(place.topic, place.partition)?.leader ?? 0
      model.moveLeader(place, (leader % 3) + 1)
      stage.write(1, 0, 'once')
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      await stage.sleep(10_000)
      expect(stage.values(topics.out).length).toBe(written(stage))
    })
  })
})
