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

  it("guarantee 'none': outputs that nobody acknowledges hold up neither the offsets nor, beyond its time, the function", async () => {
    await perform({ protocol, lanes, promise: { guarantee: 'none', read: 'log' } }, async (stage) => {
      const { judge, plan } = stage.world
      stage.world.script = { request: (_process, { api }) => (api === 'Produce' ? 'lose' : 'pass') }
      stage.write(3, 0, 'once')
      const ended = stage.ring(await stage.container(), stage.event())
      await stage.sleep(plan.timing.functionTimeoutMs / 2)
      expect(judge.position).toBe(BigInt(written(stage)))
      expect(await ended).toEqual(['done'])
      expect(stage.values(topics.out)).toEqual([])
    })
  })

  it("guarantee 'none': what a dead function has sent may arrive behind its successor's outputs; no order is promised then", async () => {
    await perform({ protocol, lanes, promise: { guarantee: 'none', read: 'log' } }, async (stage) => {
      const { clock, script } = stage.world
      const dying = await stage.container()
      stage.world.script = {
        request: ({ name }, { api }) =>
          api === 'Produce' && name === dying.process.name ? { late: clock.sleep(10_000) } : 'pass',
        step: (process, what, side) => {
          const isDead = process.name === dying.process.name && what === 'fence write' && side === 'before'
          if (isDead && stage.world.judge.position > 0n) process.die()
        },
      }
      stage.write(1, 0, 'once')
      expect(await stage.ring(dying, stage.event())).toBe('died')
      const first = stage.values(topics.source)
      stage.world.script = script
      stage.write(1, 0, 'once')
      expect(await stage.ring(await stage.container(), stage.event())).toEqual(['done'])
      await stage.sleep(15_000)
      const later = stage.values(topics.source).slice(first.length)
      expect(stage.values(topics.out)).toEqual([...later, ...first])
    })
  })

  it("read: 'event': what follows on from the position is relayed without a fetch; behind a hole the log is read", async () => {
    await perform({ protocol, lanes, promise: { guarantee: 'at-least-once', read: 'event' } }, async (stage) => {
      let fetches = 0
      stage.world.script = {
        request(_process, { api }) {
          if (api === 'Fetch') fetches++
          return 'pass'
        },
      }
      const container = await stage.container()
      stage.write(3, 0, 'once')
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      expect([fetches, stage.values(topics.out).length]).toEqual([0, written(stage)])
      stage.write(1, 0, 'once')
      const from = BigInt(written(stage))
      stage.write(1, 0, 'once')
      expect(await stage.ring(container, stage.event(0, from))).toEqual(['done'])
      expect(fetches).toBeGreaterThan(0)
      expect(stage.values(topics.out)).toEqual(stage.values(topics.source))
    })
  })
})
