import { describe, expect, test } from 'vitest'
import { RelayError } from '../../../lib/errors.ts'
import { acquireFence, type FenceHandle, type FenceRequest } from '../../../lib/fencing/fence.ts'
import type { FenceStore } from '../../../lib/fencing/fence-store.ts'
import { createMemoryFenceStore } from '../../../lib/fencing/memory-fence-store.ts'
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts'
import { countingFenceStore } from '../../helpers/counting-fence-store.ts'
import { fenceRequest, numberedRandom, offsets, soon } from '../../helpers/fences.ts'

const settledAt = (offset: bigint) =>
  ({ kind: 'settled', committedUntil: offsets([0, offset]), committedAtMs: 7, producer: { id: 1n, epoch: 0 } }) as const

function lane(inner: FenceStore = createMemoryFenceStore()) {
  const store = countingFenceStore(inner)
  const clock = new VirtualClock()
  const random = numberedRandom()
  const acquire = (over: Partial<FenceRequest> = {}) => acquireFence(store, clock, random, fenceRequest(over), soon())
  async function own(over: Partial<FenceRequest> = {}) {
    const acquired = await acquire(over)
    if (acquired.kind !== 'acquired') throw new Error(`not acquired: ${acquired.kind}`)
    return acquired
  }
  const stored = () => store.read(fenceRequest().id, soon())
  return { store, clock, acquire, own, stored }
}

/** A store whose next writes behave as told; then it is healthy again. */
function harmed(inner: FenceStore) {
  const plan: ('silent' | 'applied-but-silent')[] = []
  const silence = new RelayError('FENCE_STORE_UNAVAILABLE', 'silent', { outcome: 'unknown' })
  const store: FenceStore = {
    ...inner,
    async write(write, deadline) {
      const harm = plan.shift()
      if (harm !== 'silent') {
        const result = await inner.write(write, deadline)
        if (harm === undefined) return result
      }
      throw silence
    },
  }
  return { store, plan }
}

describe('acquiring a lane', () => {
  test('the first acquire makes the record', async () => {
    const { own } = lane()
    const { handle, found, continued } = await own()
    expect({ found, continued, token: handle.token }).toEqual({ found: null, continued: false, token: 1 })
  })

  test('the record is handed over as it was found, before this acquire changed it', async () => {
    const { own } = lane()
    const first = await own({ offsetsFound: false })
    await first.handle.release(settledAt(5n), soon())
    const second = await own({ container: 'container-b' })
    expect(second.found).toMatchObject({ dirty: false, token: 1, owner: null, working: false })
    expect(second.handle.record).toMatchObject({ dirty: true, token: 2, working: true })
  })

  test('of 16 at once one acquires, the others see its lease', async () => {
    const { acquire } = lane()
    const results = await Promise.all(Array.from({ length: 16 }, (_, index) => acquire({ container: `c${index}` })))
    const kinds = results.map(({ kind }) => kind).sort()
    expect(kinds).toEqual(['acquired', ...Array(15).fill('leased')])
  })

  test('a live lease of another owner is shown with its record', async () => {
    const { own, acquire } = lane()
    await own({ container: 'container-a' })
    expect(await acquire({ container: 'container-b' })).toMatchObject({
      kind: 'leased',
      record: { owner: { container: 'container-a' }, token: 1 },
    })
  })

  test('S9: a record of a table made anew is not taken for the one that this container remembers, though token and owner fit', async () => {
    let table = createMemoryFenceStore()
    const { own } = lane({
      read: (...args) => table.read(...args),
      write: (...args) => table.write(...args),
      rememberFirst: (...args) => table.rememberFirst(...args),
      list: (...args) => table.list(...args),
      close: () => table.close(),
    })
    const before = await own()
    await before.handle.release(settledAt(5n), soon())
    table = createMemoryFenceStore()
    const other = await own({ container: 'container-b' })
    await other.handle.release(settledAt(9n), soon())
    expect(other.handle.token).toBe(before.handle.token)

    const again = await own({ held: before.handle.held })
    expect(again).toMatchObject({ continued: false, found: { committedUntil: offsets([0, 9n]) } })
    expect(again.handle.token).toBe(other.handle.token + 1)
  })

  test('S12: an older deployment stands down', async () => {
    const { own, acquire } = lane()
    const { handle } = await own({ generation: 8 })
    await handle.release(settledAt(1n), soon())
    expect(await acquire({ generation: 7 })).toMatchObject({ kind: 'stand-down', reason: 'older-generation' })
  })

  test('a race that is lost again and again ends: others are making progress', async () => {
    const memory = createMemoryFenceStore()
    const first = await lane(memory).own()
    await first.handle.release(settledAt(1n), soon())
    let rivals = 0
    const { acquire, stored } = lane({
      ...memory,
      async write(write, deadline) {
        rivals += 1
        const rival = await lane(memory).own({ container: `rival-${rivals}` })
        await rival.handle.release(settledAt(1n), soon())
        return memory.write(write, deadline)
      },
    })
    expect(await acquire()).toMatchObject({ kind: 'stand-down', reason: 'contended' })
    expect(rivals).toBe(5)
    expect(await stored()).toMatchObject({ token: 6, owner: null })
  })

  test('a silent store means no work: the acquire fails and says that its outcome is unknown', async () => {
    const { store, plan } = harmed(createMemoryFenceStore())
    const { acquire } = lane(store)
    plan.push('applied-but-silent')
    await expect(acquire()).rejects.toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE', outcome: 'unknown' })
  })
})

describe('what a fence costs (R7)', () => {
  test('two writes per lane and invocation, and one read when the container is new to the lane', async () => {
    const { own, store } = lane()
    const { handle } = await own()
    await handle.release(settledAt(10n), soon())
    expect({ writes: store.writes.length, reads: store.reads }).toEqual({ writes: 2, reads: 1 })
  })

  test('two writes and no read when it goes on where it left off', async () => {
    const { own, store } = lane()
    const first = await own()
    await first.handle.release(settledAt(10n), soon())
    const before = { writes: store.writes.length, reads: store.reads }
    const second = await own({ held: first.handle.held })
    await second.handle.release(settledAt(20n), soon())
    expect(second.continued).toBe(true)
    expect(store.writes.length - before.writes).toBe(2)
    expect(store.reads - before.reads).toBe(0)
  })

  test('lanes that hop between containers cost two writes each time', async () => {
    const { own, store } = lane()
    for (let hop = 0; hop < 10; hop++) {
      const { handle } = await own({ container: `c${hop}` })
      await handle.release(settledAt(BigInt(hop)), soon())
    }
    expect(store.writes).toHaveLength(20)
  })

  test('two writes and one read when it is known that another container had the lane meanwhile', async () => {
    const { own, store } = lane()
    const first = await own()
    await first.handle.release(settledAt(10n), soon())
    const other = await own({ container: 'container-b' })
    await other.handle.release(settledAt(20n), soon())
    const before = { writes: store.writes.length, reads: store.reads }
    const back = await own({ held: first.handle.held, heldIsOutdated: true })
    await back.handle.release(settledAt(30n), soon())
    expect(back).toMatchObject({ continued: false, handle: { token: 3 } })
    expect(store.writes.length - before.writes).toBe(2)
    expect(store.reads - before.reads).toBe(1)
  })

  test('a lane that was last held here goes on even when it is wrongly taken for outdated', async () => {
    const { own } = lane()
    const first = await own()
    await first.handle.release(settledAt(10n), soon())
    expect((await own({ held: first.handle.held, heldIsOutdated: true })).continued).toBe(true)
  })
})

describe('going on in the same container', () => {
  test('keeps the token; each acquire has a new nonce', async () => {
    const { own } = lane()
    const first = await own()
    await first.handle.release(settledAt(10n), soon())
    const second = await own({ held: first.handle.held })
    expect(second).toMatchObject({ continued: true, handle: { token: 1 } })
    expect(second.handle.nonce).not.toBe(first.handle.nonce)
  })

  test('S13: is over after another owner, even if that one released cleanly', async () => {
    const { own } = lane()
    const first = await own()
    await first.handle.release(settledAt(10n), soon())
    const other = await own({ container: 'container-b' })
    await other.handle.release(settledAt(20n), soon())
    const thawed = await own({ held: first.handle.held })
    expect(thawed).toMatchObject({ continued: false, handle: { token: 3 } })
    expect(thawed.found?.committedUntil).toEqual(offsets([0, 20n]))
  })

  test('what the container remembers never refuses: the store is asked', async () => {
    const { own, stored } = lane()
    const first = await own()
    await first.handle.stop({ code: 'OFFSET_MOVED', message: 'moved' }, { kind: 'unopened' }, soon())
    const operator = await own({ acceptStopped: true, generation: null })
    await operator.handle.note({ stopped: null }, soon())
    await operator.handle.release({ kind: 'unopened' }, soon())
    const resumed = await own({ held: first.handle.held })
    expect(resumed.continued).toBe(false)
    expect((await stored())?.stopped).toBeNull()
  })

  test('S7: a release that was applied without an answer still lets it go on', async () => {
    const { store, plan } = harmed(createMemoryFenceStore())
    const { own } = lane(store)
    const first = await own()
    plan.push('applied-but-silent')
    expect((await first.handle.release(settledAt(10n), soon())).kind).toBe('silent')
    expect((await own({ held: first.handle.held })).continued).toBe(true)
  })

  test('S7: a release that never arrived gives the lane back at once, with a new token and no death', async () => {
    const { store, plan } = harmed(createMemoryFenceStore())
    const { own } = lane(store)
    const first = await own()
    plan.push('silent')
    await first.handle.release(settledAt(10n), soon())
    const second = await own({ held: first.handle.held })
    expect(second).toMatchObject({ continued: false, handle: { token: 2, record: { attempts: 0 } } })
  })

  test('S7: the late release of the previous invocation is refused while the next one works', async () => {
    const memory = createMemoryFenceStore()
    const late: Parameters<FenceStore['write']>[0][] = []
    const { own, stored } = lane({
      ...memory,
      async write(write, deadline) {
        if (write.kind === 'update' && write.changes.owner === null) {
          late.push(write)
          throw new RelayError('FENCE_STORE_UNAVAILABLE', 'on its way', { outcome: 'unknown' })
        }
        return memory.write(write, deadline)
      },
    })
    const first = await own()
    await first.handle.release(settledAt(10n), soon())
    const second = await own({ held: first.handle.held })
    const [release] = late
    if (!release) throw new Error('no release was sent')
    expect((await memory.write(release, soon())).kind).toBe('lost')
    expect((await stored())?.owner?.nonce).toBe(second.handle.nonce)
  })
})

describe('an owner that slept', () => {
  async function replaced() {
    const world = lane()
    const { handle: sleeper } = await world.own()
    await world.clock.advance(5_001)
    const successor = await world.own({ container: 'container-b' })
    return { ...world, sleeper, successor: successor.handle }
  }

  test('S2: learns from the read after its barrier that a successor came, drained and released clean', async () => {
    const { sleeper, successor } = await replaced()
    await successor.release(settledAt(50n), soon())
    expect(await sleeper.confirm(soon())).toBe('superseded')
  })

  test('can write nothing: not a renewal, a note, an intent, a stop or a release', async () => {
    const { sleeper, stored } = await replaced()
    const before = await stored()
    const window = { partition: 0, from: 1n, recordsMax: 1, stage: 'read' } as const
    expect(await sleeper.renew(soon())).toEqual({ kind: 'superseded' })
    const superseded = { code: 'FENCE_SUPERSEDED', disposition: 'stand-down', outcome: 'not-applied' }
    await expect(sleeper.note({ dirty: false }, soon())).rejects.toMatchObject(superseded)
    await expect(sleeper.intent(window, 1, soon())).rejects.toMatchObject(superseded)
    const stop = sleeper.stop({ code: 'X', message: 'x' }, { kind: 'unopened' }, soon())
    await expect(stop).rejects.toMatchObject(superseded)
    expect(await sleeper.release(settledAt(9n), soon())).toEqual({ kind: 'superseded' })
    expect(await stored()).toEqual(before)
  })

  test('is told apart from its own successor in the same container, which has the same token', async () => {
    const { own } = lane()
    const first = await own()
    await first.handle.release(settledAt(1n), soon())
    const second = await own({ held: first.handle.held })
    expect(second.handle.token).toBe(first.handle.token)
    expect(await first.handle.confirm(soon())).toBe('superseded')
    expect(await second.handle.confirm(soon())).toBe('ours')
  })

  test('the successor is told that it is still the owner', async () => {
    const { successor } = await replaced()
    expect(await successor.confirm(soon())).toBe('ours')
  })

  test('S9: an owner whose record is gone with the table is no owner', async () => {
    const memory = createMemoryFenceStore()
    const { own } = lane(memory)
    const { handle } = await own()
    memory.close()
    expect(await handle.confirm(soon())).toBe('superseded')
    expect(await handle.renew(soon())).toEqual({ kind: 'superseded' })
  })
})

describe('the owner of a lane', () => {
  test('prolongs its lease from now', async () => {
    const { own, clock, stored } = lane()
    const { handle } = await own()
    await clock.advance(4_000)
    expect(await handle.renew(soon())).toEqual({ kind: 'ours' })
    expect((await stored())?.leaseUntilMs).toBe(clock.now() + 5_000)
  })

  test('after deaths renews by the longer lease', async () => {
    const { own, clock, stored } = lane()
    await own()
    await clock.advance(5_001)
    const { handle } = await own({ container: 'container-b' })
    await handle.renew(soon())
    expect(handle.leaseMs).toBe(10_000)
    expect((await stored())?.leaseUntilMs).toBe(clock.now() + 10_000)
  })

  test('writes one at a time, in the order of its calls', async () => {
    const memory = createMemoryFenceStore()
    let underway = 0
    const { own, stored, store } = lane({
      ...memory,
      async write(write, deadline) {
        underway += 1
        expect(underway).toBe(1)
        await new Promise(setImmediate)
        underway -= 1
        return memory.write(write, deadline)
      },
    })
    const { handle } = await own()
    const writes = [10n, 20n, 30n].map((offset) => handle.note({ committedUntil: offsets([0, offset]) }, soon()))
    await Promise.all([...writes, handle.renew(soon())])
    const revisions = store.writes.map((write) => (write.kind === 'update' ? write.revision : 1))
    expect(revisions).toEqual([1, 2, 3, 4, 5])
    expect((await stored())?.committedUntil).toEqual(offsets([0, 30n]))
  })

  test('P14: goes on after a write whose outcome is unknown, applied or not', async () => {
    for (const harm of ['silent', 'applied-but-silent'] as const) {
      const { store, plan } = harmed(createMemoryFenceStore())
      const { own, stored } = lane(store)
      const { handle } = await own()
      plan.push(harm)
      await expect(handle.note({ wakeAtMs: 5 }, soon())).rejects.toMatchObject({ outcome: 'unknown' })
      await handle.note({ producerEpoch: 3 }, soon())
      expect(handle.record).toEqual(await stored())
      expect(handle.record).toMatchObject({ producerEpoch: 3, wakeAtMs: harm === 'silent' ? null : 5 })
    }
  })

  test('P14: F does not go back behind a write that may have happened', async () => {
    const { store, plan } = harmed(createMemoryFenceStore())
    const { own } = lane(store)
    const { handle } = await own()
    plan.push('applied-but-silent')
    await expect(handle.note({ committedUntil: offsets([0, 10n]) }, soon())).rejects.toMatchObject({
      outcome: 'unknown',
    })
    await expect(handle.note({ committedUntil: offsets([0, 9n]) }, soon())).rejects.toThrow(/INVARIANT_BROKEN/)
    await handle.note({ committedUntil: offsets([0, 10n]) }, soon())
  })

  test('S9: adopts the token and lineage that Kafka remembers of a lost table', async () => {
    const { own, stored } = lane()
    const { handle } = await own()
    await handle.adopt({ token: 41, lineage: 'older', committedUntil: offsets([0, 7n]) }, soon())
    expect(handle.token).toBe(41)
    expect(await stored()).toMatchObject({ token: 41, lineage: 'older', committedUntil: offsets([0, 7n]) })
    expect(await handle.confirm(soon())).toBe('ours')
    await handle.note({ dirty: true }, soon())
  })

  test('adopting never lowers the token', async () => {
    const { own } = lane()
    const { handle } = await own()
    await handle.adopt({ token: 1, lineage: 'older', committedUntil: offsets() }, soon())
    expect(handle.token).toBe(2)
  })

  test('a broken rule is refused before anything is written', async () => {
    const { own, store } = lane()
    const { handle } = await own()
    await handle.note({ committedUntil: offsets([0, 10n]) }, soon())
    const writes = store.writes.length
    await expect(handle.note({ committedUntil: offsets([0, 9n]) }, soon())).rejects.toMatchObject({
      code: 'INVARIANT_BROKEN',
    })
    expect(store.writes).toHaveLength(writes)
  })

  test('writes nothing after its release', async () => {
    const { own } = lane()
    const { handle } = await own()
    await handle.release(settledAt(1n), soon())
    await expect(handle.renew(soon())).rejects.toThrow(/writes nothing after its end/)
  })
})

describe('endings in the store', () => {
  test('released clean: free, clean, F remembered, no death', async () => {
    const { own, stored } = lane()
    const { handle } = await own()
    expect(await handle.release(settledAt(7n), soon())).toEqual({ kind: 'ours' })
    expect(await stored()).toMatchObject({
      owner: null,
      lastNonce: handle.nonce,
      dirty: false,
      working: false,
      committedUntil: offsets([0, 7n]),
      producerId: 1n,
    })
  })

  test.each([false, true])('ended before reconciling a lane that was found dirty: %s, it stays so', async (dirty) => {
    const { own, stored } = lane()
    const first = await own({ offsetsFound: false })
    await first.handle.note({ dirty }, soon())
    await first.handle.release({ kind: 'unknown' }, soon())
    const second = await own({ container: 'container-b', offsetsFound: true })
    expect(second.handle.record.dirty).toBe(true)
    await second.handle.release({ kind: 'unopened' }, soon())
    expect((await stored())?.dirty).toBe(dirty)
  })

  test('what was noted dirty stays dirty', async () => {
    const { own, stored } = lane()
    const { handle } = await own({ offsetsFound: false })
    await handle.note({ dirty: true }, soon())
    await handle.release({ kind: 'unopened' }, soon())
    expect((await stored())?.dirty).toBe(true)
  })

  test('a stop is durable: nobody but an operator acquires the lane again (S11)', async () => {
    const { own, acquire, stored, store, clock } = lane()
    const { handle } = await own()
    await handle.stop({ code: 'SOURCE_TRUNCATED', message: 'gone: 5 to 9' }, settledAt(5n), soon())
    const writes = store.writes.length
    expect(await acquire({ held: handle.held })).toMatchObject({ kind: 'stopped' })
    expect(store.writes).toHaveLength(writes)
    expect(await stored()).toMatchObject({
      stopped: { code: 'SOURCE_TRUNCATED', message: 'gone: 5 to 9', atMs: clock.now() },
      owner: null,
      working: false,
      committedUntil: offsets([0, 5n]),
      attempts: 0,
    })
  })

  test('a stop that was not acknowledged is reported, and the lane can still be released', async () => {
    const { store, plan } = harmed(createMemoryFenceStore())
    const { own } = lane(store)
    const { handle } = await own()
    plan.push('silent')
    const stop = handle.stop({ code: 'X', message: 'x' }, { kind: 'unopened' }, soon())
    await expect(stop).rejects.toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE' })
    expect(await handle.release({ kind: 'unopened' }, soon())).toEqual({ kind: 'ours' })
  })

  test('S5: kills with commits between them do not shrink windows for ever', async () => {
    const { own, clock } = lane()
    let from = 0n
    for (let kill = 0; kill < 20; kill++) {
      const { handle } = await own({ container: `c${kill}` })
      const { attempts } = handle.record
      if (attempts > 0) {
        const window = { partition: 0, recordsMax: 500, stage: 'read' } as const
        await handle.intent({ ...window, from }, attempts, soon())
        from += 10n
        await handle.intent({ ...window, from }, attempts, soon())
      }
      expect(attempts).toBeLessThanOrEqual(2)
      await clock.advance(handle.leaseMs + 1)
    }
  })

  test('P8: a record that kills its transform alone is counted, one death each', async () => {
    const { own, clock } = lane()
    const alone = { partition: 0, from: 9n, recordsMax: 1, stage: 'transform' } as const
    let last: FenceHandle | undefined
    for (let kill = 0; kill < 4; kill++) {
      last = (await own({ container: `c${kill}` })).handle
      await last.intent(alone, last.record.attempts, soon())
      await clock.advance(last.leaseMs + 1)
    }
    expect(last?.record.intent?.deathsAlone).toBe(3)
    expect(last?.record.attempts).toBe(3)
  })
})
