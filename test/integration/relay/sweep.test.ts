import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../../lib/clock.ts'
import { createMemoryFenceStore } from '../../../lib/fencing/memory-fence-store.ts'
import { bytes, defineRelay, topic } from '../../../lib/index.ts'
import { parseCommitMetadata } from '../../../lib/relay/commit-metadata.ts'
import { keepAliveMs } from '../../../lib/relay/keep-alive.ts'
import type { RelayObserver } from '../../../lib/relay/observer.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { type SweepReport, sweepRelay } from '../../../lib/relay/sweep.ts'
import { openTransactionOf } from '../../../lib/transaction/describe.ts'
import { openSession } from '../../../lib/transaction/open-session.ts'
import { days } from '../../../lib/units.ts'
import { countingFenceStore } from '../../helpers/counting-fence-store.ts'
import { within } from '../../helpers/kafka-client.ts'
import { committedBy, deleteGroup, editFence, fenceOf } from '../../helpers/operator.ts'
import { type RelayWorld, relayWorld, type WorldOptions } from '../../helpers/relay-world.ts'
import { eventOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { batches } from '../../helpers/sessions.ts'
import { relayedFive } from '../../helpers/stopped-lanes.ts'

const sweep = (runtime: RelayRuntime): Promise<SweepReport> => sweepRelay(runtime, 'sweep', within(20_000))

/** Token in the metadata of the committed offset: who committed last. */
const committedToken = async ({ cluster, lane }: RelayWorld) =>
  parseCommitMetadata((await committedBy(cluster, lane())).metadata)?.token

describe.each(['4.1', '3.9'] as const)('a sweep, Kafka %s', (version) => {
  test('relays what no bell has told of', async () => {
    const world = await relayWorld({ version, source: { partitions: 2 } })
    const values = [...(await world.produce(3, 0)), ...(await world.produce(3, 1))]
    const report = await sweep(await world.container())
    expect(report).toMatchObject({ ok: true, lanes: [{ kind: 'done' }, { kind: 'done' }], refreshed: new Map() })
    expect((await world.delivered()).toSorted()).toEqual(values.toSorted())
  })

  test('leaves a lane alone that was committed a moment ago', async () => {
    const { world } = await relayedFive({ version })
    const fences = countingFenceStore(world.fences)
    const report = await sweep(await world.container({ fences }))
    expect(report).toMatchObject({ ok: true, lanes: [{ kind: 'done', windows: 0 }], refreshed: new Map() })
    expect(fences.writes).toEqual([])
  })

  test('commits the positions of an idle lane again, the same ones, and remembers when', async () => {
    const { world, lane, values } = await relayedFive({ version })
    const { transactionalId } = lane
    const longAgoMs = Date.now() - days(3)
    await editFence(world.fences, transactionalId, { committedAtMs: longAgoMs })
    const tokenBefore = (await committedToken(world)) ?? 0
    const report = await sweep(await world.container())
    expect(report.refreshed).toEqual(new Map([[transactionalId, 'idle']]))
    expect((await committedBy(world.cluster, lane)).offset).toBe(5n)
    expect(await committedToken(world)).toBe(tokenBefore + 1)
    const record = await fenceOf(world.fences, transactionalId)
    expect(record).toMatchObject({ owner: null, dirty: false, working: false, committedUntil: new Map([[0, 5n]]) })
    expect(record.committedAtMs).toBeGreaterThan(longAgoMs + days(2))
    expect(await world.delivered()).toEqual(values)
  })

  test('tells how far each lane is behind and since when, as it finds them and not as it leaves them', async () => {
    const { world, lane } = await relayedFive({ version })
    const { transactionalId } = lane
    await editFence(world.fences, transactionalId, { committedAtMs: Date.now() - days(1) })
    await world.produce(3)
    const told: Parameters<NonNullable<RelayObserver['laneSwept']>>[0][] = []
    await sweep(await world.container({ observer: { laneSwept: (event) => told.push(event) } }))
    expect(told).toMatchObject([{ lane: transactionalId, lagOffsets: 3 }])
    expect(told[0]?.committedAgeMs).toBeGreaterThanOrEqual(days(1))
    expect(told[0]?.committedAgeMs).toBeLessThan(days(1) + 60_000)
  })

  test('commits an offset again that Kafka has forgotten, from the fence record', async () => {
    const { world, lane, values } = await relayedFive({ version })
    await deleteGroup(world.cluster, lane)
    expect(await sweep(await world.container())).toMatchObject({ ok: true })
    expect((await committedBy(world.cluster, lane)).offset).toBe(5n)
    expect(await world.delivered()).toEqual(values)
  })

  test('ends a transaction that a dead function left open, so that readers of the outputs go on', async () => {
    const { world, lane, values } = await relayedFive({ version })
    const { transactionalId, group } = lane
    const { cluster, names } = world
    const config = { transactionalId, group, transactionTimeoutMs: 60_000 }
    const dead = await openSession(cluster, config, systemRandom, within(10_000))
    await dead.begin([{ topic: names.output, partition: 0 }], within(10_000))
    await dead.send([batches(names.output, 0, ['never'])], within(10_000))
    expect((await openTransactionOf(cluster, transactionalId, within(10_000)))?.state).toBe('Ongoing')
    const report = await sweep(await world.container())
    expect(report.refreshed).toEqual(new Map([[transactionalId, 'open transaction']]))
    expect(await world.delivered()).toEqual(values)
  })
})

describe('a lane whose owner died after its last commit', () => {
  test.each([
    ['released, but dirty', null],
    ['without a release, its lease over', { nonce: 'dead', container: 'dead', requestId: 'dead' }],
  ])('%s: is settled', async (_, owner) => {
    const { world, lane } = await relayedFive()
    await editFence(world.fences, lane.transactionalId, { dirty: true, owner, leaseUntilMs: owner ? 1 : 0 })
    const report = await sweep(await world.container())
    expect(report.refreshed).toEqual(new Map([[lane.transactionalId, 'left behind']]))
    expect(await fenceOf(world.fences, lane.transactionalId)).toMatchObject({ dirty: false, owner: null })
  })

  test('in the middle of a reset: the reset is finished, and the next sweep relays from there', async () => {
    const { world, lane, values } = await relayedFive()
    await editFence(world.fences, lane.transactionalId, { resetTo: new Map([[0, 2n]]) })
    const report = await sweep(await world.container())
    expect(report.refreshed).toEqual(new Map([[lane.transactionalId, 'left behind']]))
    expect((await committedBy(world.cluster, lane)).offset).toBe(2n)
    expect(await fenceOf(world.fences, lane.transactionalId)).toMatchObject({ resetTo: null, dirty: false })
    await sweep(await world.container())
    expect(await world.delivered()).toEqual([...values, ...values.slice(2)])
  })

  test('or seems to, while its lease lives: left alone', async () => {
    const { world, lane } = await relayedFive()
    const owner = { nonce: 'alive', container: 'alive', requestId: 'alive' }
    const leaseUntilMs = Date.now() + 60_000
    await editFence(world.fences, lane.transactionalId, { dirty: true, committedAtMs: 1, owner, leaseUntilMs })
    const report = await sweep(await world.container())
    expect(report).toMatchObject({ ok: true, refreshed: new Map() })
    expect((await fenceOf(world.fences, lane.transactionalId)).owner).toEqual(owner)
  })
})

test('a lost fence table is found and adopted though there is nothing to relay', async () => {
  const { world, values } = await relayedFive()
  const fences = createMemoryFenceStore()
  const report = await sweep(await world.container({ fences }))
  expect(report.refreshed).toEqual(new Map([[world.lane().transactionalId, 'no fence record']]))
  expect(await fenceOf(fences, world.lane().transactionalId)).toMatchObject({ committedUntil: new Map([[0, 5n]]) })
  expect(await world.delivered()).toEqual(values)
})

test('a stopped lane is told of at every sweep and holds up no other', async () => {
  const world = await relayWorld({ source: { partitions: 2 } })
  const first = [...(await world.produce(2, 0)), ...(await world.produce(2, 1))]
  await ring(await world.container())
  const stopped = { code: 'OFFSET_MOVED', message: 'somebody did it', atMs: 1_700_000_000_000 }
  await editFence(world.fences, world.lane(0).transactionalId, { stopped })
  await world.produce(2, 0)
  const values = [...first, ...(await world.produce(2, 1))]
  const told: string[] = []
  const observer: RelayObserver = { laneStopped: ({ lane, error }) => told.push(`${lane}: ${error.message}`) }
  for (let sweeps = 1; sweeps <= 2; sweeps++) {
    const report = await sweep(await world.container({ observer }))
    expect(report).toMatchObject({ ok: true, lanes: [{ kind: 'stopped', code: 'OFFSET_MOVED' }, { kind: 'done' }] })
    expect(told).toHaveLength(sweeps)
  }
  expect(told[0]).toContain('LANE_STOPPED: lane')
  expect(told[0]).toContain('stands still since 2023-11-14T22:13:20.000Z: somebody did it')
  expect((await world.delivered()).toSorted()).toEqual(values.toSorted())
})

test('a relay that begins at its first event is not begun by a sweep', async () => {
  const define: NonNullable<WorldOptions['define']> = ({ source, output }) =>
    defineRelay({
      name: 'copy',
      source: topic(source, bytes()),
      outputs: { copy: topic(output, bytes()) },
      startAt: 'event',
      transform: (record, { emit }) => emit.copy(record.value),
    })
  const world = await relayWorld({ define })
  const values = await world.produce(4)
  const container = await world.container()
  expect(await sweep(container)).toMatchObject({ ok: true, lanes: [{ kind: 'done', windows: 0 }] })
  expect(onlyLane(await ring(container, eventOf(world.names.source, 2, 3)))).toMatchObject({ kind: 'done' })
  expect(await world.delivered()).toEqual(values.slice(2))
})

test('idle means a third of what the broker remembers', async () => {
  const { cluster } = await relayWorld()
  expect(await keepAliveMs(cluster, within(10_000))).toBe(days(7) / 3)
})
