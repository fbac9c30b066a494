import { describe, expect, test } from 'vitest'
import { RelayError } from '../../../lib/errors.ts'
import { acquireFence, FenceHandle } from '../../../lib/fencing/fence.ts'
import type { FenceStore, FenceWrite } from '../../../lib/fencing/fence-store.ts'
import { createMemoryFenceStore } from '../../../lib/fencing/memory-fence-store.ts'
import { keepRenewed } from '../../../lib/fencing/renewal.ts'
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts'
import { countingFenceStore } from '../../helpers/counting-fence-store.ts'
import { fenceRequest, numberedRandom, soon } from '../../helpers/fences.ts'

/** A hold whose writes from now on go through `bend` and are counted. */
async function working(bend: (memory: FenceStore) => FenceStore = (memory) => memory) {
  const memory = createMemoryFenceStore()
  const store = countingFenceStore(bend(memory))
  const clock = new VirtualClock()
  const acquired = await acquireFence(memory, clock, numberedRandom(), fenceRequest(), soon())
  if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
  const { record, nonce, leaseMs } = acquired.handle
  const handle = new FenceHandle({ store, clock, record, nonce, leaseMs, dirtyBefore: false })
  return { memory, store, clock, handle }
}

const silence = new RelayError('FENCE_STORE_UNAVAILABLE', 'silent', { outcome: 'unknown' })

describe('keeping a lease renewed', () => {
  test('every 2 s, so that the lane never looks abandoned', async () => {
    const { clock, handle, memory, store } = await working()
    const renewal = keepRenewed(handle, clock)
    for (let second = 0; second < 20; second++) {
      await clock.advance(1_000)
      expect((await memory.read(handle.record.id, soon()))?.leaseUntilMs).toBeGreaterThan(clock.now())
    }
    expect(store.writes).toHaveLength(10)
    await renewal.stop()
    expect(renewal.lost.aborted).toBe(false)
  })

  test('work shorter than 2 s costs no renewal', async () => {
    const { clock, handle, store } = await working()
    const renewal = keepRenewed(handle, clock)
    await clock.advance(1_999)
    await renewal.stop()
    expect(store.writes).toHaveLength(0)
    expect(clock.sleeping).toBe(0)
  })

  test('nothing is renewed after the stop', async () => {
    const { clock, handle, store } = await working()
    const renewal = keepRenewed(handle, clock)
    await clock.advance(2_000)
    await renewal.stop()
    await clock.advance(10_000)
    expect(store.writes).toHaveLength(1)
  })

  test('the stop waits for a renewal that is on its way', async () => {
    let answer: (() => void) | undefined
    const arrived = new Promise<void>((resolve) => {
      answer = resolve
    })
    const { clock, handle } = await working((memory) => ({
      ...memory,
      async write(write: FenceWrite, deadline) {
        await arrived
        return memory.write(write, deadline)
      },
    }))
    const renewal = keepRenewed(handle, clock)
    await clock.advance(2_000)
    const order: string[] = []
    const stopped = renewal.stop().then(() => order.push('stopped'))
    await clock.advance(0)
    order.push('answered')
    answer?.()
    await stopped
    expect(order).toEqual(['answered', 'stopped'])
  })

  test('a silent store takes no lease away: it is asked again (R7)', async () => {
    let asked = 0
    const { clock, handle } = await working((memory) => ({
      ...memory,
      async write() {
        asked += 1
        throw silence
      },
    }))
    const renewal = keepRenewed(handle, clock)
    await clock.advance(10_000)
    expect(asked).toBe(5)
    expect(renewal.lost.aborted).toBe(false)
    await renewal.stop()
  })

  test('a lease that is known to be lost is told at once, and no longer renewed', async () => {
    const { clock, handle, memory, store } = await working()
    const renewal = keepRenewed(handle, clock)
    const later = new VirtualClock(clock.now() + 60_000)
    await acquireFence(memory, later, numberedRandom('b'), fenceRequest({ container: 'container-b' }), soon())
    await clock.advance(2_000)
    expect(renewal.lost.reason).toMatchObject({ code: 'FENCE_SUPERSEDED', disposition: 'stand-down' })
    await clock.advance(10_000)
    expect(store.writes).toHaveLength(1)
    await renewal.stop()
  })

  test('a fault of our own is told as a loss, not thrown into the void', async () => {
    const { clock, handle } = await working((memory) => ({
      ...memory,
      async write() {
        throw new TypeError('a bug')
      },
    }))
    const renewal = keepRenewed(handle, clock)
    await clock.advance(2_000)
    expect(renewal.lost.reason).toBeInstanceOf(TypeError)
    await renewal.stop()
  })
})
