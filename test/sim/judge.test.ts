import { describe, expect, it } from 'vitest'
import { BatchBuilder } from '../../lib/kafka/record-batch/encode.ts'
import type { InvocationReport } from '../../lib/relay/invocation.ts'
import { laneOf } from '../../lib/relay/lane-id.ts'
import { calmPlan } from './calm.ts'
import { type PromisePlan, strongest } from './promises.ts'
import { group, prefix, relayName, topics } from './sim-relay.ts'
import { World } from './world.ts'

/** A world in which nobody relays: what stands in its logs is written by hand. */
class History {
  readonly world: World

  constructor(promise: PromisePlan = strongest) {
    this.world = new World(calmPlan(1, { promise }), {}, true)
  }

  /** A batch of records, in a transaction of the producer unless it is 0. */
  append(topic: string, ids: readonly string[], producer = 0, partition = 0): void {
    const builder = new BatchBuilder({ maxBytes: 10_000 })
    for (const id of ids) builder.tryAppend({ key: null, value: Buffer.from(id), timestampMs: 0 })
    const transactional = producer > 0
    const producerId = transactional ? BigInt(producer) : -1n
    const epoch = transactional ? 0 : -1
    this.log(topic, partition).append(
      builder.build({ producerId, producerEpoch: epoch, baseSequence: epoch, transactional }),
      { ...place, usesAppendTime: false, isUnverified: false, startsAtZero: false },
    )
  }

  end(topic: string, producer: number, commit: boolean, partition = 0): void {
    const marker = { producerId: BigInt(producer), producerEpoch: 0, coordinatorEpoch: 0, commit }
    this.log(topic, partition).appendMarker(marker, place)
  }

  commit(offset: bigint): void {
    const { model, clock } = this.world
    const coordinator = model.groupCoordinator(model.groupPartition(group).partition)
    const committed = { topic: topics.source, partition: 0, offset, leaderEpoch: -1, metadata: '' }
    coordinator.commit(group, [committed], clock.now())
  }

  verdict(): readonly string[] {
    this.world.judge.verdict()
    return this.world.judge.violations
  }

  private log(topic: string, partition: number) {
    const found = this.world.model.topics.partition(topic, partition)
    if (found === undefined) throw new Error(`no ${topic}-${partition}`)
    return found.log
  }
}

const place = { nowMs: 0, leaderEpoch: 0, segments: { ms: 1e12, bytes: 1e9 } }
const [one, two, three] = ['once-0-1', 'once-0-2', 'twice-0-3']

function relayed(guarantee: PromisePlan['guarantee'] = 'exactly-once'): History {
  const history = new History({ guarantee, read: 'log' })
  history.append(topics.source, [one, two, three])
  history.commit(3n)
  return history
}

describe('the judge', () => {
  it('has nothing to say when every record was relayed once, in order', () => {
    const history = relayed()
    history.append(topics.out, [one, two, three], 7)
    history.append(topics.audit, [three], 7)
    for (const topic of [topics.out, topics.audit]) history.end(topic, 7, true)
    expect(history.verdict()).toEqual([])
  })

  it('names a record that was lost', () => {
    const history = relayed()
    history.append(topics.out, [one, three])
    history.append(topics.audit, [three])
    expect(history.verdict().join()).toContain(`0@1 '${two}' has out 0`)
  })

  it('names a record of which only a part was relayed', () => {
    const history = relayed()
    history.append(topics.out, [one, two, three])
    expect(history.verdict().join()).toContain(`'${three}' has out 1, audit 0, dead 0, wanted out 1, audit 1`)
  })

  it('names a record that is there twice, in the same partition or in another one', () => {
    for (const partition of [0, 1]) {
      const history = relayed()
      history.append(topics.out, [one, two, three])
      history.append(topics.audit, [three])
      history.append(topics.out, [two], 0, partition)
      expect(history.verdict().join()).toContain(`'${two}'`)
    }
  })

  it('names records whose order has changed', () => {
    const history = relayed()
    history.append(topics.out, [two, one, three])
    history.append(topics.audit, [three])
    expect(history.verdict().join()).toContain(`'${one}' is out of order`)
  })

  it('does not count what was aborted, and names it when it was relayed from an aborted source', () => {
    const lost = relayed()
    lost.append(topics.out, [one, two, three], 7)
    lost.append(topics.audit, [three])
    lost.end(topics.out, 7, false)
    expect(lost.verdict().length).toBe(3)

    const seen = new History()
    seen.append(topics.source, [one], 9)
    seen.end(topics.source, 9, false)
    seen.commit(2n)
    seen.append(topics.out, [one])
    expect(seen.verdict().join()).toContain('its own transaction never committed')
  })

  it('names an output whose source was not committed, and one that has no source', () => {
    const ahead = relayed()
    ahead.commit(1n)
    ahead.append(topics.out, [one, two])
    expect(ahead.verdict().join()).toContain(`'${two}' has out 1, audit 0, dead 0, wanted out 0`)

    const stranger = relayed()
    stranger.append(topics.out, [one, two, three, 'once-0-99'])
    stranger.append(topics.audit, [three])
    expect(stranger.verdict().join()).toContain('comes from nowhere')
  })

  it('names a transaction that is left open', () => {
    const history = new History()
    const { transactions } = history.world.model
    const ask = { transactionalId: 'id', timeoutMs: 1_000, expected: { producerId: -1n, producerEpoch: -1 } }
    const { identity } = transactions.init(ask)
    transactions.add('id', identity, [{ topic: topics.out, partition: 0 }])
    expect(history.verdict()).toEqual(['transaction of id is left Ongoing'])
  })

  it('names a success that was answered before the position was past the bell (R12)', () => {
    const history = relayed()
    const naming = { prefix, relay: relayName, topic: topics.source, partitionsPerLane: 1 }
    const id = laneOf(0, 1, naming)
    const report: InvocationReport = { ok: true, lanes: [{ kind: 'done', id, windows: 1 }] }
    const bell = (lastOffset: bigint) => ({
      kind: 'event' as const,
      topic: topics.source,
      partitions: [{ partition: 0, firstOffset: 0n, lastOffset, records: () => [] }],
    })
    history.world.judge.heard(bell(2n), report)
    expect(history.world.judge.violations).toEqual([])
    history.world.judge.heard(bell(3n), report)
    expect(history.world.judge.violations.join()).toContain('answered success for 0@3, committed is 3')
  })

  it('names a stop that nobody provoked', () => {
    const { judge } = relayed().world
    const id = laneOf(0, 1, { prefix, relay: relayName, topic: topics.source, partitionsPerLane: 1 })
    const stop = { kind: 'stopped' as const, id, code: 'OFFSETS_LOST', message: 'gone' }
    judge.heard({ kind: 'pull', lingerUntilMs: null }, { ok: true, lanes: [stop] })
    expect(judge.violations).toEqual(['stopped without a reason: gone'])
  })
})

describe('the judge of at-least-once', () => {
  it('has nothing to say of copies, nor of outputs whose source is not committed yet', () => {
    const history = relayed('at-least-once')
    history.commit(2n)
    history.append(topics.out, [one, two])
    history.append(topics.out, [one, two, three])
    expect(history.verdict()).toEqual([])
  })

  it('names a record that was lost, in whole or in part', () => {
    const history = relayed('at-least-once')
    history.append(topics.out, [one, three])
    const violations = history.verdict().join()
    expect(violations).toContain(`0@1 '${two}' has out 0, audit 0, dead 0, wanted out 1 or more`)
    expect(violations).toContain(`0@2 '${three}' has out 1, audit 0, dead 0, wanted out 1 or more, audit 1 or more`)
  })

  it('names first copies whose order has changed', () => {
    const history = relayed('at-least-once')
    history.append(topics.out, [one, three, two, three])
    history.append(topics.audit, [three])
    expect(history.verdict().join()).toContain(`'${two}' is out of order`)
  })

  it('names what no record of the source gives, and a dead letter without a reason', () => {
    const stranger = relayed('at-least-once')
    stranger.append(topics.out, [one, two, three, 'once-0-99'])
    stranger.append(topics.audit, [one, three])
    stranger.append(topics.dead, [two])
    const violations = stranger.verdict().join()
    expect(violations).toContain('comes from nowhere')
    expect(violations).toContain(`'${one}' has out 1, audit 1`)
    expect(violations).toContain(`'${two}' has out 1, audit 0, dead 1`)
  })

  it('names a record that a stopped lane has relayed far behind one that it has not', () => {
    const ids = Array.from({ length: 12 }, (_, index) => `once-0-${index}`)
    const found = (shown: readonly string[]) => {
      const history = new History({ guarantee: 'at-least-once', read: 'log' })
      const id = laneOf(0, 1, { prefix, relay: relayName, topic: topics.source, partitionsPerLane: 1 })
      history.append(topics.source, ids)
      history.commit(1n)
      history.append(topics.out, shown)
      history.world.judge.expectedStops.add('OFFSET_MOVED')
      const stop = { kind: 'stopped' as const, id, code: 'OFFSET_MOVED', message: '' }
      history.world.judge.heard({ kind: 'pull', lingerUntilMs: null }, { ok: true, lanes: [stop] })
      return history.verdict()
    }
    expect(found(['once-0-0', 'once-0-10'])).toEqual([])
    expect(found(['once-0-0', 'once-0-11']).join()).toContain("0@11 'once-0-11' has out 1")
  })
})

describe('the judge of no guarantee', () => {
  it('has nothing to say of a record that was lost while something failed, and names one that was lost afterwards', () => {
    const history = relayed('none')
    history.append(topics.out, [one])
    history.append(topics.out, [three])
    history.append(topics.audit, [three])
    expect(history.verdict()).toEqual([])

    const calm = relayed('none')
    calm.commit(1n)
    calm.world.judge.calm()
    calm.commit(3n)
    calm.append(topics.out, [three])
    calm.append(topics.audit, [three])
    expect(calm.verdict()).toEqual([
      expect.stringContaining(`0@1 '${two}' has out 0, audit 0, dead 0, wanted out 1 or more`),
    ])
  })

  it('names what no record of the source gives', () => {
    const history = relayed('none')
    history.append(topics.out, ['once-0-99'])
    expect(history.verdict().join()).toContain('comes from nowhere')
  })
})
