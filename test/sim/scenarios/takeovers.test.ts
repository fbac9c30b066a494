import { describe, expect, it } from 'vitest'
import type { SimContainer } from '../container.ts'
import type { Script } from '../script.ts'
import { perform, type Stage } from './stage.ts'

const protocols = [1, 2] as const

/** The process stands still once, after the nth time that the answer of such an await came. */
function pauseAfter(
  { process: wanted }: SimContainer,
  what: string,
  nth = 1,
): Script & { readonly struck: () => boolean } {
  let seen = 0
  return {
    struck: () => seen >= nth,
    step(process, awaited, side) {
      if (process === wanted && awaited === what && side === 'after' && ++seen === nth) process.pause()
    },
  }
}

async function fence({ world, lane }: Stage) {
  const record = await world.fences.read(lane)
  if (record === null) throw new Error('no fence record')
  return record
}

describe.each(protocols)('protocol %i', (protocol) => {
  it('S2: an owner that slept between acquire and barrier stands down, and the record stays clean', async () => {
    await perform({ protocol }, async (stage) => {
      stage.write(3)
      const [sleeper, other] = [await stage.container(), await stage.container()]
      await stage.ring(other, stage.event())
      stage.write(3)
      const script = pauseAfter(sleeper, 'fence write')
      stage.world.script = script
      const slept = stage.ring(sleeper, stage.event())
      await stage.sleep(8_000)
      expect(script.struck()).toBe(true)
      expect(await stage.ring(other, stage.event())).toEqual(['done'])
      const before = await fence(stage)
      sleeper.process.resume()
      expect(await slept).toEqual(['done'])
      expect(await fence(stage)).toEqual(before)
      expect(before).toMatchObject({ dirty: false, owner: null })
    })
  })

  it.each(['Fetch', 'Produce', 'TxnOffsetCommit', 'EndTxn'])(
    'an owner that slept after %s while another one took over relays nothing more',
    async (what) => {
      await perform({ protocol }, async (stage) => {
        stage.write(3)
        const [sleeper, other] = [await stage.container(), await stage.container()]
        const script = pauseAfter(sleeper, what)
        stage.world.script = script
        const slept = stage.ring(sleeper, stage.event())
        await stage.sleep(8_000)
        expect(script.struck()).toBe(true)
        expect(await stage.ring(other, stage.event())).toEqual(['done'])
        await stage.sleep(100) // for the markers
        const before = stage.world.model.transactions.find(stage.lane)
        sleeper.process.resume()
        expect(await slept).toEqual(['done'])
        expect(stage.world.model.transactions.find(stage.lane)).toEqual(before) // no barrier: it would fence its successor
      })
    },
  )

  it('S5: kills with commits between them do not shrink windows to one record for ever', async () => {
    const stage = await perform({ protocol }, async (stage) => {
      for (let kills = 0; kills < 8; kills++) {
        stage.write(15)
        const container = await stage.container()
        let ends = 0
        stage.world.script = {
          step(process, what, side) {
            if (process === container.process && what === 'EndTxn' && side === 'after' && ++ends === 3) process.die()
          },
        }
        await stage.ring(container, stage.event())
        await stage.sleep(40_000)
      }
      stage.write(15)
    })
    const positions = stage.world.journal.lines.flatMap((line) => {
      const found = /committed \{"0":"(\d+)"\}/.exec(line)?.[1]
      return found === undefined ? [] : [Number(found)]
    })
    const sizes = positions.map((position, index) => position - (positions[index - 1] ?? 0))
    expect(Math.max(...sizes.slice(-4))).toBeGreaterThan(5)
  })

  it('S5: a transform that blocks longer than the lease, with two bells: relayed, and no record is blamed', async () => {
    const stage = await perform({ protocol }, async (stage) => {
      stage.write(2)
      const { world } = stage
      world.script = {
        transform(process) {
          process.pause()
          void world.clock.sleep(8_000).then(() => process.resume())
        },
      }
      const untilDone = async (container: SimContainer) => {
        for (let tries = 1; tries <= 8; tries++) {
          const ended = await stage.ring(container, stage.event())
          if (ended !== 'died' && ended.every((end) => end === 'done')) return tries
          await stage.sleep(500)
        }
        return Number.POSITIVE_INFINITY
      }
      const tries = await Promise.all([untilDone(await stage.container()), untilDone(await stage.container())])
      expect(Math.max(...tries)).toBeLessThanOrEqual(8)
    })
    const dead = stage.world.model.topics.find('dead')?.partitions ?? []
    expect(dead.every(({ log }) => log.endOffset === 0n)).toBe(true)
  })

  it('S6: an owner killed with offsets pending is followed as soon as its lease ends, not when its transaction times out', async () => {
    await perform({ protocol }, async (stage) => {
      stage.write(3)
      const [victim, heir] = [await stage.container(), await stage.container()]
      await stage.ring(heir, stage.event())
      stage.write(3)
      stage.world.script = {
        step(process, what, side) {
          if (process === victim.process && what === 'TxnOffsetCommit' && side === 'after') process.die()
        },
      }
      expect(await stage.ring(victim, stage.event())).toBe('died')
      const beganMs = stage.world.clock.now()
      expect(await stage.ring(heir, stage.event())).toEqual(['done'])
      expect(stage.world.clock.now() - beganMs).toBeLessThan(stage.world.plan.timing.transactionTimeoutMs / 4)
    })
  })

  it('S12: an older deployment stands down for a quarter of an hour, then takes over; nothing is relayed twice', async () => {
    await perform({ protocol }, async (stage) => {
      const [older, newer] = [await stage.container(1), await stage.container(2)]
      stage.write(2)
      expect(await stage.ring(older, stage.event())).toEqual(['done'])
      stage.write(2)
      expect(await stage.ring(newer, stage.event())).toEqual(['done'])
      stage.write(2)
      expect(await stage.ring(older, stage.event())).toEqual(['failed FENCE_SUPERSEDED'])
      expect(await stage.ring(newer, stage.event())).toEqual(['done'])
      expect(await stage.ring(older, stage.event())).toEqual(['done'])
      stage.write(2)
      await stage.sleep(16 * 60_000)
      expect(await stage.ring(older, stage.event())).toEqual(['done'])
      stage.write(2)
      const both = [stage.ring(older, stage.event()), stage.ring(newer, stage.event())]
      await Promise.all(both)
    })
  })

  it.each([false, true])('S13: a container thawed after 20 minutes, another owner in between: %s', async (between) => {
    await perform({ protocol }, async (stage) => {
      const [frozen, other] = [await stage.container(), await stage.container()]
      stage.write(3)
      expect(await stage.ring(frozen, stage.event())).toEqual(['done'])
      await stage.sleep(10 * 60_000)
      stage.write(3)
      if (between) expect(await stage.ring(other, stage.event())).toEqual(['done'])
      await stage.sleep(10 * 60_000)
      stage.write(3)
      expect(await stage.ring(frozen, stage.event())).toEqual(['done'])
    })
  })

  it('S13: the last epochs of a producer id are stepped over by a warm container, window by window', async () => {
    const stage = await perform({ protocol, provocation: 'epoch-exhausted' }, async (stage) => {
      const { transactions } = stage.world.model
      const ask = { transactionalId: stage.lane, timeoutMs: 60_000, expected: { producerId: -1n, producerEpoch: -1 } }
      for (let used = 0; used < 32_760; used++) transactions.init(ask)
      const container = await stage.container()
      for (let windows = 0; windows < 12; windows++) {
        stage.write(1)
        expect(await stage.ring(container, stage.event())).toEqual(['done'])
      }
      const other = await stage.container()
      for (let windows = 0; windows < 6; windows++) {
        stage.write(1)
        expect(await stage.ring(windows % 2 ? container : other, stage.event())).toEqual(['done'])
      }
    })
    expect(stage.world.model.transactions.find(stage.lane)?.producerEpoch).toBeLessThan(32_000)
  })
})
