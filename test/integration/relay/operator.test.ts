import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../../lib/clock.ts'
import { parseCommitMetadata } from '../../../lib/relay/commit-metadata.ts'
import { drainRelay } from '../../../lib/relay/operator/drain-relay.ts'
import { planReset, type ResetPlace } from '../../../lib/relay/operator/plan-reset.ts'
import { resetLane } from '../../../lib/relay/operator/reset-lane.ts'
import { resumeLane } from '../../../lib/relay/operator/resume-lane.ts'
import { relayStatus } from '../../../lib/relay/operator/status.ts'
import { relayTopics } from '../../../lib/relay/relay-topics.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { openSession } from '../../../lib/transaction/open-session.ts'
import { copyAfter, gate } from '../../helpers/gates.ts'
import { within } from '../../helpers/kafka-client.ts'
import { committedBy, deleteRecords, editFence, fenceOf, moveOffset, recreateTopic } from '../../helpers/operator.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { onlyLane, ring } from '../../helpers/ringing.ts'
import { batches } from '../../helpers/sessions.ts'
import { goesOn, relayedFive, stopsWith } from '../../helpers/stopped-lanes.ts'
import { appendRecords } from '../../helpers/writing.ts'

/** An operator's process: without an opinion of generations. */
const operator = (world: RelayWorld): Promise<RelayRuntime> =>
  world.container({ settings: { generation: null, container: 'operator' } })

async function plan(runtime: RelayRuntime, world: RelayWorld, place: ResetPlace, acceptNewSource = false) {
  const topics = await relayTopics(runtime, within(10_000), 'fresh')
  const plans = await planReset(runtime, topics, { lanes: [world.lane()], place, acceptNewSource }, within(10_000))
  const [reset] = plans
  if (!reset) throw new Error('there is no plan')
  return { topics, reset }
}

async function resetTo(world: RelayWorld, place: ResetPlace, acceptNewSource = false) {
  const runtime = await operator(world)
  const { topics, reset } = await plan(runtime, world, place, acceptNewSource)
  await resetLane(runtime, topics, reset, within(20_000))
  return reset.moves
}

const at = (offset: bigint): ResetPlace => ({ to: 'offsets', offsets: new Map([[0, offset]]) })

describe.each(['4.1', '3.9'] as const)('reset, Kafka %s', (version) => {
  test('back: says how many records come once more, and they do, committed by the lane itself', async () => {
    const { world, lane, values } = await relayedFive({ version })
    expect(await resetTo(world, at(2n))).toEqual([{ partition: 0, from: 5n, to: 2n, skipped: 0n, repeated: 3n }])
    const { offset, metadata } = await committedBy(world.cluster, lane)
    const { token } = await fenceOf(world.fences, lane.transactionalId)
    expect(offset).toBe(2n)
    expect(parseCommitMetadata(metadata)).toMatchObject({ id: lane.transactionalId, token })
    await goesOn(world, [...values, ...values.slice(2)])
  })

  test('forward: says how many records are left out, and they are', async () => {
    const { world, values } = await relayedFive({ version })
    const more = await world.produce(6)
    expect(await resetTo(world, at(9n))).toEqual([{ partition: 0, from: 5n, to: 9n, skipped: 4n, repeated: 0n }])
    await goesOn(world, [...values, ...more.slice(4)])
  })

  test('of a warm container: it notices, and goes on from the new place', async () => {
    const world = await relayWorld({ version })
    const values = await world.produce(5)
    const warm = await world.container()
    await ring(warm)
    await resetTo(world, at(3n))
    expect(onlyLane(await ring(warm))).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual([...values, ...values.slice(3)])
  })

  test('ends the transaction that a dead function left open: nothing of it is ever visible', async () => {
    const { world, lane, values } = await relayedFive({ version })
    const { transactionalId, group } = lane
    const config = { transactionalId, group, transactionTimeoutMs: 60_000 }
    const dead = await openSession(world.cluster, config, systemRandom, within(10_000))
    await dead.begin([{ topic: world.names.output, partition: 0 }], within(10_000))
    await dead.send([batches(world.names.output, 0, ['never'])], within(10_000))
    await resetTo(world, { to: 'latest' })
    expect(await world.delivered()).toEqual(values)
  })
})

describe('reset', () => {
  test('to earliest, latest, and a time', async () => {
    const world = await relayWorld()
    const times = [1_000, 2_000, 3_000, 4_000].map((ms) => 1_700_000_000_000 + ms)
    const records = times.map((timestampMs) => ({ value: Buffer.from(String(timestampMs)), timestampMs }))
    for (const record of records)
      await appendRecords(world.cluster, { topic: world.names.source, partition: 0 }, [record])
    await deleteRecords(world.cluster, { topic: world.names.source, partition: 0 }, 1)
    await ring(await world.container())
    const runtime = await operator(world)
    const target = async (place: ResetPlace) => (await plan(runtime, world, place)).reset.moves[0]?.to
    expect(await target({ to: 'earliest' })).toBe(1n)
    expect(await target({ to: 'latest' })).toBe(4n)
    expect(await target({ to: 'time', timestampMs: 1_700_000_002_500 })).toBe(2n)
    expect(await target({ to: 'time', timestampMs: 1_700_000_009_000 })).toBe(4n)
  })

  test.each([0n, 6n])('to offset %i, outside of the log: refused with its bounds', async (offset) => {
    const { world } = await relayedFive()
    await deleteRecords(world.cluster, { topic: world.names.source, partition: 0 }, 2)
    const planned = plan(await operator(world), world, at(offset))
    await expect(planned).rejects.toThrow(/RESET_REFUSED: .*partition 0 has offsets 2 to 5, not \d/)
  })

  test('without an offset for one of the partitions: refused', async () => {
    const { world } = await relayedFive()
    const planned = plan(await operator(world), world, { to: 'offsets', offsets: new Map([[3, 1n]]) })
    await expect(planned).rejects.toThrow(/RESET_REFUSED: .*has partition 0, for which no offset is given/)
  })

  test('while a function works on the lane: refused, and the function goes on', async () => {
    const world = await relayWorld()
    const values = await world.produce(5)
    const held = gate()
    const ringing = ring(await world.container({ define: copyAfter(held.pass) }))
    await held.reached
    await expect(resetTo(world, at(0n))).rejects.toThrow(/LANE_LEASED: lane .* is held by test \(request [0-9a-f-]+\)/)
    held.open()
    expect(onlyLane(await ringing)).toMatchObject({ kind: 'done' })
    expect(await world.delivered()).toEqual(values)
  })

  test('of a lane that was stopped because records were deleted: it goes on with those that are left', async () => {
    const { world, values } = await relayedFive()
    const more = await world.produce(4)
    await deleteRecords(world.cluster, { topic: world.names.source, partition: 0 }, 7)
    await stopsWith(world, 'SOURCE_TRUNCATED')
    expect(await resetTo(world, { to: 'earliest' })).toEqual([
      { partition: 0, from: 5n, to: 7n, skipped: 2n, repeated: 0n },
    ])
    await goesOn(world, [...values, ...more.slice(2)])
  })

  test('to a source that was made anew: refused until the operator says so, then pinned', async () => {
    const { world, lane, values } = await relayedFive()
    await recreateTopic(world.cluster, world.names.source)
    const fresh = await world.produce(3)
    await stopsWith(world, 'SOURCE_REPLACED')
    await expect(resetTo(world, { to: 'earliest' })).rejects.toThrow(/RESET_REFUSED: .* it was made anew/)
    expect(await resetTo(world, { to: 'earliest' }, true)).toEqual([
      { partition: 0, from: null, to: 0n, skipped: 0n, repeated: 0n },
    ])
    const topics = await world.cluster.topics([world.names.source], within(10_000), 'fresh')
    const { sourceTopicId } = await fenceOf(world.fences, lane.transactionalId)
    expect(sourceTopicId).toBe(topics.get(world.names.source)?.topicId)
    await goesOn(world, [...values, ...fresh])
  })
})

describe('resume', () => {
  test('lets a lane go on whose offset was put back, and forgets its deaths', async () => {
    const { world, lane, values, committed } = await relayedFive()
    const more = await world.produce(3)
    await moveOffset(world.cluster, lane, 2)
    await stopsWith(world, 'OFFSET_MOVED')
    await editFence(world.fences, lane.transactionalId, { attempts: 3 })
    await moveOffset(world.cluster, lane, 5, committed.metadata)
    const runtime = await operator(world)
    expect(await resumeLane(runtime, lane, within(10_000))).toMatchObject({ code: 'OFFSET_MOVED' })
    expect(await fenceOf(world.fences, lane.transactionalId)).toMatchObject({ stopped: null, attempts: 0, owner: null })
    await goesOn(world, [...values, ...more])
  })

  test('of a lane whose fault is still there: it stops again by the same name', async () => {
    const { world, lane } = await relayedFive()
    await moveOffset(world.cluster, lane, 2)
    await stopsWith(world, 'OFFSET_MOVED')
    await resumeLane(await operator(world), lane, within(10_000))
    await stopsWith(world, 'OFFSET_MOVED')
  })

  test('of a lane that is not stopped: nothing is written', async () => {
    const { world, lane } = await relayedFive()
    const before = await fenceOf(world.fences, lane.transactionalId)
    expect(await resumeLane(await operator(world), lane, within(10_000))).toBeNull()
    expect(await fenceOf(world.fences, lane.transactionalId)).toEqual(before)
  })
})

describe('status', () => {
  const statusOf = async (world: RelayWorld) => relayStatus(await operator(world), within(10_000))

  test('tells position, lag and last commit of each lane, also of one that has not started', async () => {
    const world = await relayWorld({ source: { partitions: 2 } })
    await world.produce(5, 0)
    expect((await statusOf(world)).lanes).toMatchObject([
      { state: 'not started', lag: '5', token: null, committedAtMs: null, partitions: [{ position: null }] },
      { state: 'not started', lag: '0' },
    ])
    await ring(await world.container())
    await world.produce(2, 0)
    const beganMs = Date.now() - 60_000
    const status = await statusOf(world)
    expect(status).toMatchObject({ ok: true, relay: 'copy', prefix: world.prefix, unreadable: [] })
    const [behind, idle] = status.lanes
    expect(behind).toMatchObject({ state: 'behind', lag: '2', owner: null, dirty: false, attempts: 0, stopped: null })
    expect(behind?.partitions).toMatchObject([
      { partition: 0, position: '5', logStart: '0', stableEnd: '7', logEnd: '7', lag: '2', offsetIsOurs: true },
    ])
    expect(behind?.committedAtMs).toBeGreaterThan(beganMs)
    expect(idle).toMatchObject({ state: 'up to date', lag: '0', openTransaction: null })
  })

  test('names the owner while it works, and its open transaction', async () => {
    const world = await relayWorld()
    await world.produce(5)
    const held = gate()
    const ringing = ring(await world.container({ define: copyAfter(held.pass) }))
    await held.reached
    const [lane] = (await statusOf(world)).lanes
    expect(lane).toMatchObject({ state: 'working', owner: { container: 'test' }, lag: '5' })
    held.open()
    await ringing
    expect((await statusOf(world)).lanes).toMatchObject([{ state: 'up to date', owner: null, lag: '0' }])
  })

  test('tells of a stop, of a foreign offset and of a transaction that nobody ends', async () => {
    const { world, lane } = await relayedFive()
    const { transactionalId, group } = lane
    await moveOffset(world.cluster, lane, 2)
    await stopsWith(world, 'OFFSET_MOVED')
    const config = { transactionalId, group, transactionTimeoutMs: 60_000 }
    const dead = await openSession(world.cluster, config, systemRandom, within(10_000))
    await dead.begin([{ topic: world.names.output, partition: 0 }], within(10_000))
    await dead.send([batches(world.names.output, 0, ['never'])], within(10_000))
    const status = await statusOf(world)
    expect(status.ok).toBe(false)
    expect(status.lanes).toMatchObject([
      {
        state: 'stopped',
        stopped: { code: 'OFFSET_MOVED' },
        partitions: [{ position: '5', offsetIsOurs: false }],
        openTransaction: { state: 'Ongoing', partitions: [`${world.names.output}-0`] },
      },
    ])
    expect(JSON.parse(JSON.stringify(status))).toEqual(status)
  })
})

describe('drain', () => {
  test('relays all that is there and tells what each lane took', async () => {
    const world = await relayWorld({ source: { partitions: 2 } })
    const values = [...(await world.produce(3, 0)), ...(await world.produce(2, 1))]
    const report = await drainRelay(await operator(world), 10_000)
    expect(report).toMatchObject({
      ok: true,
      lanes: [
        { state: 'drained', windows: 1 },
        { state: 'drained', windows: 1 },
      ],
    })
    expect((await world.delivered()).toSorted()).toEqual(values.toSorted())
  })

  test('waits for a function that holds a lane, and repeats nothing', async () => {
    const world = await relayWorld()
    const values = await world.produce(5)
    const held = gate()
    const ringing = ring(await world.container({ define: copyAfter(held.pass) }))
    await held.reached
    const left = Promise.withResolvers<void>()
    const runtime = await operator(world)
    const clock = {
      ...runtime.clock,
      sleep: (ms: number, signal?: AbortSignal) => {
        left.resolve()
        return runtime.clock.sleep(ms, signal)
      },
    }
    const draining = drainRelay({ ...runtime, clock }, 10_000)
    await left.promise
    held.open()
    await ringing
    expect(await draining).toMatchObject({ ok: true, lanes: [{ state: 'drained', windows: 0 }] })
    expect(await world.delivered()).toEqual(values)
  })

  test('leaves a stopped lane, names it, and is not ok', async () => {
    const { world, lane } = await relayedFive()
    await moveOffset(world.cluster, lane, 2)
    expect(await drainRelay(await operator(world), 10_000)).toMatchObject({
      ok: false,
      lanes: [{ state: 'stopped', code: 'OFFSET_MOVED' }],
    })
  })

  test('asked to end: finishes its window, begins no other one, and frees the lane', async () => {
    const world = await relayWorld({ define: copyAfter(() => stop.abort()) })
    const stop = new AbortController()
    const values = await world.produce(5)
    const runtime = await operator(world)
    const small = { ...runtime.relay, window: { ...runtime.relay.window, recordsMax: 2 } }
    const report = await drainRelay({ ...runtime, relay: small, stopping: stop.signal }, 10_000)
    expect(report).toMatchObject({ ok: false, lanes: [{ state: 'waiting', windows: 1 }] })
    expect(await world.delivered()).toEqual(values.slice(0, 2))
    expect(await fenceOf(world.fences, world.lane().transactionalId)).toMatchObject({ owner: null, dirty: false })
  })
})
