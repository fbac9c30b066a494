/**
 * Random schedules over one lane: containers with skewed clocks acquire, renew, move F, release, crash; requests and
 * answers get lost, and any write that was ever sent may arrive once more at any time.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../../lib/clock.ts'
import { isRelayError, RelayError } from '../../../lib/errors.ts'
import { acquireFence, type Ending, type FenceHandle } from '../../../lib/fencing/fence.ts'
import type { FenceRecord } from '../../../lib/fencing/fence-record.ts'
import type { HeldFence } from '../../../lib/fencing/fence-rules.ts'
import type { FenceStore, FenceWrite } from '../../../lib/fencing/fence-store.ts'
import { createMemoryFenceStore } from '../../../lib/fencing/memory-fence-store.ts'
import { fenceRequest, numberedRandom, offsets, soon } from '../../helpers/fences.ts'

const containers = [0, 1, 2]
type Loss = 'nothing' | 'request' | 'answer'

const step = fc.oneof(
  fc.record({ do: fc.constant('acquire' as const), by: fc.constantFrom(...containers), preempt: fc.boolean() }),
  fc.record({ do: fc.constantFrom('renew' as const, 'confirm' as const), by: fc.constantFrom(...containers) }),
  fc.record({
    do: fc.constant('move' as const),
    by: fc.constantFrom(...containers),
    records: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record({
    do: fc.constant('release' as const),
    by: fc.constantFrom(...containers),
    ending: fc.constantFrom<Ending['kind'][]>('settled', 'unknown', 'unopened'),
  }),
  fc.record({ do: fc.constant('end-without-release' as const), by: fc.constantFrom(...containers) }),
  fc.record({ do: fc.constant('crash' as const), by: fc.constantFrom(...containers) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1_000, 6_000, 70_000) }),
  fc.record({ do: fc.constant('arrive-again' as const), which: fc.nat() }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
const lossy = fc.record({
  step,
  loses: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Loss>('nothing') },
    { weight: 1, arbitrary: fc.constantFrom<Loss>('request', 'answer') },
  ),
})

class World {
  readonly memory = createMemoryFenceStore()
  readonly sent: FenceWrite[] = []
  readonly random = numberedRandom()
  readonly handles = new Map<number, FenceHandle>()
  readonly held = new Map<number, HeldFence>()
  /** What each hold has committed, whether or not the record heard of it. */
  readonly positions = new Map<FenceHandle, bigint>()
  readonly holders = new Map<number, string>()
  readonly counts = { acquired: 0, lost: 0, repeated: 0, superseded: 0, continued: 0 }
  loses: Loss = 'nothing'
  nowMs = 1_000_000
  last: FenceRecord | null = null
  readonly skewsMs: readonly number[]

  constructor(skewsMs: readonly number[]) {
    this.skewsMs = skewsMs
  }

  readonly store: FenceStore = {
    ...this.memory,
    write: async (write, deadline) => {
      this.sent.push(write)
      const loses = this.loses
      this.loses = 'nothing'
      if (loses !== 'request') {
        const result = await this.memory.write(write, deadline)
        if (loses === 'nothing') return result
      }
      this.counts.lost += 1
      throw new RelayError('FENCE_STORE_UNAVAILABLE', 'lost', { outcome: 'unknown' })
    },
  }

  clock(container: number): Clock {
    return { now: () => this.nowMs + (this.skewsMs[container] ?? 0), sleep: () => Promise.resolve() }
  }

  async take(step: Step, loses: Loss): Promise<void> {
    this.loses = loses
    try {
      await this.run(step)
    } catch (error) {
      const expected = isRelayError(error) && ['FENCE_STORE_UNAVAILABLE', 'FENCE_SUPERSEDED'].includes(error.code)
      if (!expected) throw error
      if (error.code === 'FENCE_SUPERSEDED') this.note('superseded')
    }
    this.loses = 'nothing'
    await this.check()
  }

  private async run(step: Step): Promise<void> {
    if (step.do === 'wait') this.nowMs += step.ms
    else if (step.do === 'arrive-again') await this.arriveAgain(step.which)
    else if (step.do === 'acquire') await this.acquire(step.by, step.preempt)
    else await this.own(step, this.handles.get(step.by))
  }

  private async arriveAgain(which: number): Promise<void> {
    const write = this.sent[which % Math.max(1, this.sent.length)]
    if (write) await this.memory.write(write, soon())
    this.counts.repeated += 1
  }

  private async acquire(by: number, mayPreempt: boolean): Promise<void> {
    this.endWithoutRelease(by)
    const request = fenceRequest({ container: `c${by}`, mayPreempt, held: this.held.get(by) ?? null })
    const acquired = await acquireFence(this.store, this.clock(by), this.random, request, soon())
    if (acquired.kind !== 'acquired') return
    this.counts.acquired += 1
    this.counts.continued += acquired.continued ? 1 : 0
    this.handles.set(by, acquired.handle)
  }

  private async own(step: Extract<Step, { by: number }>, handle: FenceHandle | undefined): Promise<void> {
    if (!handle) return
    if (step.do === 'crash') {
      this.handles.delete(step.by)
      this.held.delete(step.by)
    } else if (step.do === 'end-without-release') this.endWithoutRelease(step.by)
    else if (step.do === 'confirm') await this.confirm(handle)
    else if (step.do === 'renew') this.note((await handle.renew(soon())).kind)
    else if (step.do === 'move') await handle.note({ committedUntil: this.further(handle, step.records) }, soon())
    else if (step.do === 'release') {
      this.note((await handle.release(this.endingOf(step.ending, handle), soon())).kind)
      this.endWithoutRelease(step.by)
    }
  }

  private further(handle: FenceHandle, records: number): ReadonlyMap<number, bigint> {
    const position = (this.positions.get(handle) ?? handle.record.committedUntil.get(0) ?? 0n) + BigInt(records)
    this.positions.set(handle, position)
    return offsets([0, position])
  }

  private endingOf(kind: Ending['kind'], handle: FenceHandle): Ending {
    if (kind !== 'settled') return { kind }
    return { kind, committedUntil: this.further(handle, 1), committedAtMs: null, producer: null }
  }

  private endWithoutRelease(by: number): void {
    const handle = this.handles.get(by)
    if (handle) this.held.set(by, handle.held)
    this.handles.delete(by)
  }

  private async check(): Promise<void> {
    const record = await this.memory.read(fenceRequest().id, soon())
    if (record !== null) {
      this.checkHolder(record)
      if (this.last !== null) checkNeverBack(this.last, record)
      this.last = record
    }
  }

  /** A token belongs to one container for ever. */
  private checkHolder({ token, owner }: FenceRecord): void {
    if (owner === null) return
    expect(this.holders.get(token) ?? owner.container).toBe(owner.container)
    this.holders.set(token, owner.container)
  }

  /** Who asks is told that the lane is its own if and only if the record says so: never two at once. */
  private async confirm(handle: FenceHandle): Promise<void> {
    const owner = this.last?.owner?.nonce
    this.note(await handle.confirm(soon()), handle.nonce === owner ? 'ours' : 'superseded')
  }

  private note(standing: string, wanted = standing): void {
    expect(standing).toBe(wanted)
    if (standing === 'superseded') this.counts.superseded += 1
  }
}

function checkNeverBack(before: FenceRecord, after: FenceRecord): void {
  expect(after.revision).toBeGreaterThanOrEqual(before.revision)
  if (after.revision === before.revision) expect(after).toEqual(before)
  expect(after.token).toBeGreaterThanOrEqual(before.token)
  expect(after.lineage).toBe(before.lineage)
  for (const [partition, offset] of before.committedUntil) {
    expect((after.committedUntil.get(partition) ?? -1n) >= offset).toBe(true)
  }
}

describe('whatever happens to the owners of a lane', () => {
  test('no token has two holders, token and F never go back, and at most one is told that it owns the lane', async () => {
    const totals = { acquired: 0, lost: 0, repeated: 0, superseded: 0, continued: 0 }
    const skew = fc.integer({ min: -10_000, max: 10_000 })
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(skew, skew, skew),
        fc.array(lossy, { maxLength: 100, size: 'max' }),
        async (skewsMs, steps) => {
          const world = new World(skewsMs)
          for (const { step, loses } of steps) await world.take(step, loses)
          for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += world.counts[name]
        },
      ),
      { numRuns: 1_000 },
    )
    for (const [what, times] of Object.entries(totals)) expect(times, `${what} never happened`).toBeGreaterThan(10)
  })
})
