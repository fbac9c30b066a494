import { describe, expect, it } from 'vitest'
import { RelayError } from '../../../lib/errors.ts'
import type { FenceWrite } from '../../../lib/fencing/fence-store.ts'
import { perform, type Stage } from './stage.ts'

/** The first release is not answered, and arrives `afterMs` later. */
function delayRelease({ world }: Stage, afterMs: number): { arrived: boolean } {
  const { fences, clock } = world
  const write = fences.write.bind(fences)
  const release = { arrived: false, isHeld: false }
  fences.write = async (asked: FenceWrite) => {
    const isRelease = asked.kind === 'update' && asked.changes.owner === null
    if (!isRelease || release.isHeld) return write(asked)
    release.isHeld = true
    void clock.sleep(afterMs).then(async () => {
      await write(asked)
      release.arrived = true
    })
    throw new RelayError('FENCE_STORE_UNAVAILABLE', 'no answer', { outcome: 'unknown' })
  }
  return release
}

describe.each([1, 2] as const)('protocol %i', (protocol) => {
  it.each([3_000, 36_000])('S7: a commit without an answer that is applied %i ms later counts once', async (lateMs) => {
    await perform({ protocol }, async (stage) => {
      stage.write(3)
      const [first, other] = [await stage.container(), await stage.container()]
      await stage.ring(other, stage.event())
      stage.write(3)
      let sent = 0
      stage.world.script = {
        request(process, { api }) {
          if (process !== first.process || api !== 'EndTxn') return 'pass'
          return ++sent === 1 ? { late: stage.sleep(lateMs) } : 'lose'
        },
      }
      await stage.ring(first, stage.event())
      expect(sent).toBeGreaterThan(0)
      stage.write(2)
      await stage.ring(other, stage.event())
      await stage.sleep(40_000)
    })
  })

  it('S7: the release of the last invocation arrives while the next one works: it changes nothing', async () => {
    await perform({ protocol }, async (stage) => {
      stage.write(2)
      const container = await stage.container()
      const release = delayRelease(stage, 1_000)
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      stage.write(2)
      stage.world.script = {
        transform(process) {
          process.pause()
          void stage.sleep(2_000).then(() => process.resume())
        },
      }
      expect(await stage.ring(container, stage.event())).toEqual(['done'])
      expect(release.arrived).toBe(true)
      expect(await stage.world.fences.read(stage.lane)).toMatchObject({ owner: null, dirty: false })
    })
  })

  it.each(['restored', 'lost'] as const)(
    'S9: a fence table %s while Kafka went on: the lane goes on too',
    async (how) => {
      await perform({ protocol }, async (stage) => {
        stage.write(3)
        const [one, other, cold] = [await stage.container(), await stage.container(), await stage.container()]
        await stage.ring(one, stage.event())
        const backup = await stage.world.fences.records()
        for (const container of [other, one, other]) {
          stage.write(3)
          expect(await stage.ring(container, stage.event())).toEqual(['done'])
        }
        await stage.world.fences.restore(how === 'restored' ? backup : [])
        stage.write(3)
        expect(await stage.ring(cold, stage.event())).toEqual(['done'])
        stage.write(3)
        expect(await stage.ring(other, stage.event())).toEqual(['done'])
      })
    },
  )

  it('S10: the table is down for ten minutes: the work in hand is finished, then nothing is begun until it is back', async () => {
    await perform({ protocol }, async (stage) => {
      stage.write(20)
      const [first, other] = [await stage.container(), await stage.container()]
      let ends = 0
      stage.world.script = {
        step(process, what) {
          if (process === first.process && what === 'EndTxn' && ++ends === 3) stage.world.weather.fencesOut = true
        },
      }
      expect(await stage.ring(first, stage.event())).toEqual(['done'])
      stage.write(3)
      for (const container of [first, other]) {
        expect(await stage.ring(container, stage.event())).toEqual(['failed FENCE_STORE_UNAVAILABLE'])
      }
      await stage.sleep(10 * 60_000)
      stage.world.weather.fencesOut = false
      expect(await stage.ring(other, stage.event())).toEqual(['done'])
    })
  })
})
