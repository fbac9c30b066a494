import { describe, expect, onTestFinished, test } from 'vitest'
import { createMemoryFenceStore } from '../../../../lib/fencing/memory-fence-store.ts'
import { Presence } from '../../../../lib/relay/worker/presence.ts'
import { numberedRandom, soon } from '../../../helpers/fences.ts'
import { hastyClock } from '../../../helpers/hasty-clock.ts'

const leaseMs = 5_000

/** Renewals would come after a minute: whoever says nothing more is as good as dead when its lease has ended. */
function workers() {
  const [fences, clock, random] = [createMemoryFenceStore(), hastyClock(), numberedRandom()]
  const settings = { prefix: 'shop', container: 'worker', leaseMs, renewEveryMs: 60_000 }
  const place = { fences, clock, random, relay: { name: 'copy' }, settings }
  const there = new Set<Presence>()
  const take = async () => {
    const presence = await Presence.take(place, soon())
    there.add(presence)
    return presence
  }
  const leave = async (presence: Presence) => {
    there.delete(presence)
    await presence.leave()
  }
  onTestFinished(async () => {
    for (const presence of there) await presence.leave()
  })
  return { fences, clock, take, leave }
}

describe('the presence of workers', () => {
  test('gives each of them a rank of its own, and all of them the same count', async () => {
    const { take } = workers()
    const crew = [await take(), await take(), await take()]
    const seen = await Promise.all(crew.map((presence) => presence.crew(soon())))
    expect(seen).toEqual([0, 1, 2].map((rank) => ({ workers: 3, rank })))
  })

  test('one that leaves makes room at once, one that died when its lease has ended', async () => {
    const { take, leave, clock } = workers()
    const [first, second] = [await take(), await take()]
    await leave(first)
    expect(await second.crew(soon())).toEqual({ workers: 1, rank: 0 })
    await take()
    expect(await second.crew(soon())).toEqual({ workers: 2, rank: 1 })
    clock.skip(leaseMs)
    expect(await second.crew(soon())).toEqual({ workers: 1, rank: 0 })
  })

  test('rows are used again: there are never more of them than workers at one time', async () => {
    const { take, fences, clock } = workers()
    for (let life = 0; life < 5; life++) {
      await take()
      await take()
      clock.skip(leaseMs)
    }
    expect((await fences.list('', soon())).records).toHaveLength(2)
  })

  test('its rows are not met by whoever lists the lanes of the relay', async () => {
    const { take, fences } = workers()
    await take()
    expect((await fences.list('shop.copy.', soon())).records).toEqual([])
  })
})
