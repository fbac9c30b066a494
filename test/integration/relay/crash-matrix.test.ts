import { describe, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import type { Api } from '../../../lib/kafka/protocol/generated/index.ts'
import type { Bell } from '../../../lib/relay/bell.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { clusterThrough, proxyBefore } from '../../helpers/kafka-proxy.ts'
import { committedBy, fenceOf } from '../../helpers/operator.ts'
import { type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { eventOf, onlyLane, pull, ring } from '../../helpers/ringing.ts'
import { intercepted } from '../../sim/controls/intercept.ts'

/** Cells of the crash matrix (npm run crash-matrix) on real brokers: step, side, fault, and what rings next. */
const cells = [
  ['InitProducerId', 'after', 'lost-answer', 'same-event'],
  ['InitProducerId', 'before', 'pause', 'same-event'],
  ['InitProducerId', 'after', 'crash', 'pull'],
  ['Fetch', 'after', 'crash', 'recut'],
  ['Produce', 'before', 'lost-answer', 'pull'],
  ['Produce', 'after', 'lost-answer', 'same-event'],
  ['Produce', 'before', 'pause', 'recut'],
  ['Produce', 'after', 'crash', 'same-event'],
  ['TxnOffsetCommit', 'before', 'pause', 'same-event'],
  ['TxnOffsetCommit', 'after', 'lost-answer', 'recut'],
  ['TxnOffsetCommit', 'after', 'crash', 'pull'],
  ['EndTxn', 'before', 'pause', 'recut'],
  ['EndTxn', 'before', 'crash', 'same-event'],
  ['EndTxn', 'after', 'lost-answer', 'pull'],
  ['EndTxn', 'after', 'pause', 'same-event'],
  ['EndTxn', 'after', 'crash', 'recut'],
] as const satisfies readonly (readonly [Api, Side, Fault, Next])[]

type Side = 'before' | 'after'
type Fault = 'crash' | 'lost-answer' | 'pause'
type Next = 'same-event' | 'recut' | 'pull'

const settings = { leaseMs: 600, renewEveryMs: 60_000 } // who stands still renews nothing

describe.each(['4.1', '3.9'] as const)('a lane that another container has had, Kafka %s', (version) => {
  test.each(cells)('%s, %s its effect: %s, then %s', async (api, side, fault, next) => {
    const world = await relayWorld({ version, settings })
    const successor = await world.container()
    const values = await world.produce(3)
    await untilDone(successor, pull)
    values.push(...(await world.produce(4)))
    const bell = eventOf(world.names.source, 3, 6)
    const follow = async (container: RelayRuntime) => {
      if (next === 'recut') values.push(...(await world.produce(1)))
      await untilDone(container, bellOf(world, next, values.length))
    }
    let isTaken = fault !== 'pause'
    const takeOver = async () => {
      const { token } = await fenceOf(world.fences, world.lane().transactionalId)
      await follow(successor)
      values.push(...(await world.produce(1))) // a window that was committed leaves the same event nothing to take over for
      await untilDone(successor, pull)
      expect((await fenceOf(world.fences, world.lane().transactionalId)).token).toBeGreaterThan(token)
      isTaken = true
    }
    const strike = await faultAt(world, api, side, fault, takeOver)
    const subject = await world.container({ cluster: strike.cluster })
    await Promise.race([ring(subject, bell), strike.died])
    expect([strike.fired(), isTaken]).toEqual([1, true])
    const alive = fault === 'crash' ? [successor] : [subject, successor]
    for (const container of alive) await follow(container)
    values.push(...(await world.produce(1)))
    for (const container of alive) await untilDone(container, pull)
    expect(await world.delivered()).toEqual(values)
    expect(await committedBy(world.cluster, world.lane())).toMatchObject({ offset: BigInt(values.length) })
  })
})

function bellOf({ names }: RelayWorld, next: Next, written: number): Bell {
  if (next === 'pull') return pull
  return next === 'same-event' ? eventOf(names.source, 3, 6) : eventOf(names.source, 5, written - 1)
}

/** As a trigger does: again until success. A pull leaves a lane alone whose lease lives. */
const untilDone = (container: RelayRuntime, bell: Bell): Promise<void> =>
  expect.poll(async () => onlyLane(await ring(container, bell)).kind, { timeout: 20_000, interval: 200 }).toBe('done')

interface Strike {
  readonly cluster: Cluster
  readonly died: Promise<void>
  fired(): number
}

/** The subject's connections, and one fault on them. `takeOver`: what happens while it stands still. */
async function faultAt(
  world: RelayWorld,
  api: Api,
  side: Side,
  fault: Fault,
  takeOver: () => Promise<void>,
): Promise<Strike> {
  const proxy = await proxyBefore(world.brokers)
  const cluster = clusterThrough(world.brokers, proxy)
  const died = Promise.withResolvers<void>()
  if (fault === 'lost-answer') {
    const cut = side === 'before' ? proxy.hold(api) : proxy.dropAnswers(api)
    return { cluster, died: died.promise, fired: () => cut.fired }
  }
  if (fault === 'pause' && side === 'before') {
    const delayed = proxy.before(api, takeOver)
    return { cluster, died: died.promise, fired: () => delayed.fired }
  }
  let fired = 0
  const end = async () => {
    fired++
    if (fault === 'pause') return takeOver()
    died.resolve()
    return new Promise<never>(() => {})
  }
  const struck = intercepted(cluster, async (call, send) => {
    if (call.api !== api || fired > 0) return send(call)
    if (side === 'before') await end()
    const answer = await send(call)
    if (side === 'after' && fired === 0) await end()
    return answer
  })
  return { cluster: struck, died: died.promise, fired: () => fired }
}
