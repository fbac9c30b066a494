import { describe, expect, it } from 'vitest'
import { topics } from '../sim-relay.ts'
import { perform } from './stage.ts'

/** What the simulation has found, each as its shortest schedule. */
describe.each([1, 2] as const)('protocol %i', (protocol) => {
  it('a record that kills is found alone in a lane of two partitions: its neighbour is not blamed (seed 36)', async () => {
    const lanes = { sourcePartitions: 2, partitionsPerLane: 2, outputPartitions: 1, windowRecords: 10 }
    const stage = await perform({ protocol, lanes }, async (stage) => {
      stage.write(2, 0, 'once')
      stage.write(1, 1, 'poison')
      stage.write(2, 0, 'once')
      stage.write(2, 1, 'once')
    })
    expect(new Set(stage.values(topics.dead).map((id) => id.split('-')[0]))).toEqual(new Set(['poison']))
  })

  it('a record that kills is found alone in a container of two lanes: the other lane is not blamed (seed 264)', async () => {
    const lanes = { sourcePartitions: 2, partitionsPerLane: 1, outputPartitions: 1, windowRecords: 10 }
    const stage = await perform({ protocol, lanes }, async (stage) => {
      stage.write(3, 0, 'once')
      stage.write(1, 1, 'poison')
      stage.write(2, 1, 'once')
    })
    expect(new Set(stage.values(topics.dead).map((id) => id.split('-')[0]))).toEqual(new Set(['poison']))
  })

  it('a source made anew is not read from the position that a warm container kept (seed 578)', async () => {
    const stage = await perform({ protocol }, async (stage) => {
      const { judge, model, plan } = stage.world
      const container = await stage.container()
      stage.write(2)
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      judge.archive()
      for (const code of ['SOURCE_REPLACED', 'OFFSETS_LOST']) judge.expectedStops.add(code)
      model.deleteTopic(topics.source)
      model.createTopic({ name: topics.source, partitions: plan.lanes.sourcePartitions })
      await stage.ring(container, { kind: 'pull', lingerUntilMs: null })
      stage.write(6)
      await stage.ring(container, stage.event())
      await stage.ring(container, stage.event())
    })
    expect(stage.world.judge.isStopped).toBe(true)
  })

  it('late copies of its own InitProducerId fence a lane again and again: nobody shares its prefix (seed 9346)', async () => {
    const fences = 3
    const stage = await perform({ protocol }, async (stage) => {
      const { clock } = stage.world
      stage.write(2)
      expect(await stage.ring(await stage.container(), stage.event())).toEqual(['done'])
      let copy = Promise.withResolvers<void>()
      let copies = 0
      stage.world.script = {
        async request(_process, { api }) {
          if (api === 'InitProducerId' && ++copies % 2 === 1 && copies < 2 * fences) {
            copy = Promise.withResolvers()
            return { late: copy.promise }
          }
          if (api === 'TxnOffsetCommit') copy.resolve()
          await clock.sleep(10)
          return 'pass'
        },
      }
      stage.write(2)
      expect(await stage.ring(await stage.container(), stage.event())).toEqual(['done'])
    })
    expect(stage.world.journal.lines.filter((line) => line.includes('reopens: SESSION_FENCED')).length).toBe(fences)
  })
})
