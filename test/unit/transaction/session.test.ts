import { describe, expect, test } from 'vitest'
import { isRelayError, RelayError } from '../../../lib/errors.ts'
import { openSession } from '../../../lib/transaction/open-session.ts'
import type { BatchStamp, PartitionBatches, TransactionSession } from '../../../lib/transaction/session.ts'
import {
  evenRandom,
  inTurn,
  lost,
  node,
  offsetsFound,
  offsetsTaken,
  partitionsAdded,
  produced,
  type Script,
  ScriptedBrokers,
} from '../../helpers/scripted-brokers.ts'

const config = { transactionalId: 'shop.delays.flights.0', group: 'shop.delays', transactionTimeoutMs: 60_000 }
const source = { topic: 'flights', partition: 0 }
const offset = { ...source, offset: 5n, leaderEpoch: -1, metadata: '' }
const out = (partition: number) => ({ topic: 'out', partition })

const yes: Record<string, Script> = {
  InitProducerId: () => ({ errorCode: 0, producerId: 7n, producerEpoch: 3 }),
  OffsetFetch: (call) => offsetsFound(call.body, 4n, call.body.requireStable && call.body.pending ? 88 : 0),
  Produce: (call) => produced(call.body),
  TxnOffsetCommit: (call) => offsetsTaken(call.body),
  AddPartitionsToTxn: (call) => partitionsAdded(call.body),
  AddOffsetsToTxn: () => ({ errorCode: 0 }),
  EndTxn: (call) => ({ errorCode: 0, producerId: 7n, producerEpoch: call.body.producerEpoch + 1 }),
}

/** A batch that remembers how it was stamped; its bytes are its stamp. */
function batch(count = 1): PartitionBatches['batches'][number] & { readonly stamps: BatchStamp[] } {
  const stamps: BatchStamp[] = []
  return {
    count,
    stamps,
    build(stamp) {
      stamps.push(stamp)
      return Buffer.from(`${stamp.producerEpoch}/${stamp.baseSequence}`)
    },
  }
}

interface Opened {
  readonly cluster: ScriptedBrokers
  readonly session: TransactionSession
}

async function opened(scripts: Record<string, Script> = {}, set: Partial<ScriptedBrokers> = {}): Promise<Opened> {
  const cluster = Object.assign(new ScriptedBrokers({ ...yes, ...scripts }), set)
  const session = await openSession(cluster, config, evenRandom, cluster.within(10_000))
  await session.readCommitted([source], cluster.within(10_000))
  return { cluster, session }
}

async function failureOf(work: Promise<unknown>): Promise<RelayError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason) => reason,
  )
  if (isRelayError(error)) return error
  throw error
}

async function filled({ cluster, session }: Opened): Promise<void> {
  await session.begin([out(0)], cluster.within(1_000))
  await session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000))
  await session.sendOffsets([offset], cluster.within(1_000))
}

describe('begin', () => {
  test('sends nothing on one broker with protocol 2: it joins partitions by itself', async () => {
    const { cluster, session } = await opened()
    await session.begin([out(0), out(1)], cluster.within(1_000))
    expect(cluster.callsOf('AddPartitionsToTxn')).toEqual([])
    expect(cluster.callsOf('AddOffsetsToTxn')).toEqual([])
    await session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000))
    await session.sendOffsets([offset], cluster.within(1_000))
    expect(cluster.callsOf('Produce')[0]?.versions).toEqual({ minVersion: 12 })
    expect(cluster.callsOf('TxnOffsetCommit')[0]?.versions).toEqual({ minVersion: 5 })
  })

  test.each([
    ['another leader', 'leader'],
    ['another group coordinator', 'group-coordinator'],
    ['another transaction coordinator', 'transaction-coordinator'],
  ])('joins explicitly with protocol 2 over %s, at version 3', async (_, role) => {
    const { cluster, session } = await opened({}, { places: (target) => (target.to === role ? 2 : 1) })
    await session.begin([out(0)], cluster.within(1_000))
    expect(cluster.callsOf('AddPartitionsToTxn')).toMatchObject([{ versions: { maxVersion: 3 } }])
    expect(cluster.callsOf('AddOffsetsToTxn')).toHaveLength(1)
  })

  test('joins explicitly with protocol 1, and pins the versions of the older protocol', async () => {
    const { cluster, session } = await opened(
      { OffsetFetch: inTurnOf([4n, 0], [4n, 0], [4n, 88], [5n, 0]) },
      { protocol: 1 },
    )
    await filled({ cluster, session })
    await session.commit(cluster.within(1_000))
    expect(cluster.callsOf('AddPartitionsToTxn')).toHaveLength(1)
    expect(cluster.callsOf('Produce')[0]?.versions).toEqual({ maxVersion: 11 })
    expect(cluster.callsOf('TxnOffsetCommit')[0]?.versions).toEqual({ maxVersion: 4 })
    expect(cluster.callsOf('EndTxn')[0]?.versions).toEqual({ maxVersion: 4 })
    expect(session.reusable).toBe(true)
  })

  test('waits a millisecond when the last transaction ended in this one: an append would be parked for 20 ms', async () => {
    const { cluster, session } = await opened()
    await filled({ cluster, session })
    await session.commit(cluster.within(1_000))
    const before = cluster.clock.slept.length
    await session.begin([out(0)], cluster.within(1_000))
    expect(cluster.clock.slept.slice(before)).toEqual([1])
    await session.abort(cluster.within(1_000))
    await cluster.clock.sleep(5)
    const later = cluster.clock.slept.length
    await session.begin([out(0)], cluster.within(1_000))
    expect(cluster.clock.slept.slice(later)).toEqual([])
  })
})

/** OffsetFetch answers by turn: committed offset and code. */
function inTurnOf(...answers: readonly (readonly [bigint, number])[]): Script {
  return ({ body }, nth) => {
    const [committed, code] = answers[Math.min(nth, answers.length) - 1] ?? [0n, -1]
    return offsetsFound(body, committed, code)
  }
}

describe('send', () => {
  test('puts the partitions of one leader into one request, leaders in parallel, batches of a partition in waves', async () => {
    const places = { places: (target: { to: string; partition?: number }) => (target.partition === 2 ? 2 : 1) }
    const { cluster, session } = await opened({}, places)
    await session.begin([out(0), out(1), out(2)], cluster.within(1_000))
    await session.send(
      [
        { ...out(0), batches: [batch(2), batch(3)] },
        { ...out(1), batches: [batch()] },
        { ...out(2), batches: [batch()] },
      ],
      cluster.within(1_000),
    )
    const requests = cluster.callsOf('Produce').map(({ target, body }) => ({
      node: target.to === 'node' ? target.node.nodeId : target.to,
      parts: body.topicData.flatMap((topic: { partitionData: { index: number; records: Buffer }[] }) =>
        topic.partitionData.map((part) => `${part.index}:${part.records}`),
      ),
    }))
    expect(requests.filter((request) => request.node === 1)).toEqual([
      { node: 1, parts: ['0:3/0', '1:3/0'] },
      { node: 1, parts: ['0:3/2'] },
    ])
    expect(requests.slice(0, 2)).toContainEqual({ node: 2, parts: ['2:3/0'] })
  })

  test.each([6, 5, 7, 19, 20, 51, 9, 74, 72])(
    'code %d: the identical buffer again, until it is taken',
    async (code) => {
      const { cluster, session } = await opened({
        Produce: ({ body }, nth) => produced(body, () => (nth < 3 ? code : 0)),
      })
      await session.begin([out(0)], cluster.within(1_000))
      const sent = batch()
      await session.send([{ ...out(0), batches: [sent] }], cluster.within(5_000))
      const buffers = cluster.callsOf('Produce').map(({ body }) => body.topicData[0].partitionData[0].records)
      expect(buffers).toHaveLength(3)
      expect(new Set(buffers).size).toBe(1)
      expect(sent.stamps).toHaveLength(1)
    },
  )

  test('only the partitions that were not taken are sent again, to the leader of then', async () => {
    let leader = 1
    const { cluster, session } = await opened(
      {
        Produce: ({ body }, nth) => {
          leader = 2
          return produced(body, (_, partition) => (nth === 1 && partition === 1 ? 6 : 0))
        },
      },
      { places: (target) => ('partition' in target && target.partition === 1 ? leader : 1) },
    )
    await session.begin([out(0), out(1)], cluster.within(1_000))
    await session.send(
      [0, 1].map((partition) => ({ ...out(partition), batches: [batch()] })),
      cluster.within(1_000),
    )
    const [first, second, ...more] = cluster.callsOf('Produce')
    expect(first?.body.topicData[0].partitionData).toHaveLength(2)
    expect(second).toMatchObject({ target: { to: 'node', node: node(2) } })
    expect(second?.body.topicData[0].partitionData).toMatchObject([{ index: 1 }])
    expect(more).toEqual([])
    expect(cluster.forgotten).toContainEqual({ to: 'leader', ...out(1) })
  })

  test.each([45, 46, 2_000, 59, 120, -1, 87 + 1_000])(
    'code %d is never success: the session is poisoned, and may abort',
    async (code) => {
      const { cluster, session } = await opened({ Produce: ({ body }) => produced(body, () => code) })
      await session.begin([out(0)], cluster.within(1_000))
      const failure = await failureOf(session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000)))
      expect(failure.code).toBe('SESSION_POISONED')
      expect(cluster.callsOf('Produce')).toHaveLength(1)
      expect((await failureOf(session.commit(cluster.within(1_000)))).code).toBe('SESSION_POISONED')
      await session.abort(cluster.within(1_000))
      expect(cluster.callsOf('EndTxn')).toMatchObject([{ body: { committed: false } }])
      expect(session.state).toBe('closed')
    },
  )

  test.each([47, 48, 49, 90])('code %d fences: nothing more is sent, not even an abort', async (code) => {
    const { cluster, session } = await opened({ Produce: ({ body }) => produced(body, () => code) })
    await session.begin([out(0)], cluster.within(1_000))
    const failure = await failureOf(session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000)))
    expect(failure.code).toBe('SESSION_FENCED')
    const before = cluster.calls.length
    await session.abort(cluster.within(1_000))
    await failureOf(session.sendOffsets([offset], cluster.within(1_000)))
    await failureOf(session.commit(cluster.within(1_000)))
    expect(cluster.calls.length).toBe(before)
    expect(session.state).toBe('fenced')
  })

  test.each([29, 31, 53])('code %d: NOT_AUTHORIZED names the topic', async (code) => {
    const { cluster, session } = await opened({ Produce: ({ body }) => produced(body, () => code) })
    await session.begin([out(0)], cluster.within(1_000))
    const failure = await failureOf(session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000)))
    expect(failure).toMatchObject({ code: 'NOT_AUTHORIZED', disposition: 'fix-config' })
    expect(failure.message).toContain('out-0')
  })

  test('a leader that cannot be found because the topic is gone: no commit can follow', async () => {
    let gone = false
    const { cluster, session } = await opened(
      {},
      {
        places: (target) => {
          if (gone && target.to === 'leader') throw new RelayError('TOPIC_MISSING', 'out is gone')
          return 1
        },
      },
    )
    await session.begin([out(0)], cluster.within(1_000))
    await session.sendOffsets([offset], cluster.within(1_000))
    gone = true
    const failure = await failureOf(session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000)))
    expect(failure.code).toBe('TOPIC_MISSING')
    expect((await failureOf(session.commit(cluster.within(1_000)))).code).toBe('SESSION_POISONED')
    expect(cluster.callsOf('EndTxn')).toEqual([])
  })

  test('nothing of a transaction leaves once its EndTxn is on its way', async () => {
    let answer = (): void => undefined
    const { cluster, session } = await opened({
      EndTxn: ({ body }) =>
        new Promise((resolve) => {
          answer = () => resolve({ errorCode: 0, producerId: 7n, producerEpoch: body.producerEpoch + 1 })
        }),
    })
    await filled({ cluster, session })
    const committed = failureOf(session.commit(cluster.within(1_000)))
    await new Promise((resolve) => setImmediate(resolve))
    const before = cluster.callsOf('Produce').length
    const late = await failureOf(session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000)))
    expect(late).toMatchObject({ code: 'INVARIANT_BROKEN', outcome: 'unknown' })
    expect(cluster.callsOf('Produce')).toHaveLength(before)
    answer()
    expect(await committed).toMatchObject({ code: 'COMMIT_UNKNOWN', outcome: 'unknown' })
  })

  test('a partition that is missing from the answer is no clear yes', async () => {
    const { cluster, session } = await opened({ Produce: () => ({ responses: [] }) })
    await session.begin([out(0)], cluster.within(1_000))
    const failure = await failureOf(session.send([{ ...out(0), batches: [batch()] }], cluster.within(1_000)))
    expect(failure.code).toBe('SESSION_POISONED')
  })

  test('a failure is thrown only after the other leaders have answered, and nothing new is sent meanwhile', async () => {
    let answerSlow = (): void => undefined
    const slow = new Promise<void>((resolve) => (answerSlow = resolve))
    const { cluster, session } = await opened(
      {
        Produce: async ({ body, target }) => {
          if (target.to === 'node' && target.node.nodeId === 2) await slow
          return produced(body, (_, partition) => (partition === 0 ? 10 : 0))
        },
      },
      { places: (target) => ('partition' in target && target.partition === 1 ? 2 : 1) },
    )
    await session.begin([out(0), out(1)], cluster.within(1_000))
    let failed = false
    const outputs = [
      { ...out(0), batches: [batch()] },
      { ...out(1), batches: [batch(), batch()] },
    ]
    const failure = failureOf(session.send(outputs, cluster.within(1_000))).finally(() => (failed = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(failed).toBe(false)
    answerSlow()
    expect((await failure).code).toBe('RECORD_TOO_LARGE')
    expect(cluster.callsOf('Produce')).toHaveLength(2)
    await session.abort(cluster.within(1_000))
    expect(cluster.callsOf('EndTxn')).toHaveLength(1)
  })

  test('silence until the deadline poisons and forbids the abort; what never left leaves nothing to abort', async () => {
    for (const sent of [true, false]) {
      const { cluster, session } = await opened({ Produce: () => lost(sent) })
      await session.begin([out(0)], cluster.within(1_000))
      const failure = await failureOf(session.send([{ ...out(0), batches: [batch()] }], cluster.within(500)))
      expect(failure.code).toBe('SESSION_POISONED')
      expect(cluster.callsOf('Produce').length).toBeGreaterThan(3)
      await session.abort(cluster.within(1_000))
      expect(cluster.callsOf('EndTxn')).toEqual([])
      expect(session.state).toBe('closed')
    }
  })
})

describe('sendOffsets', () => {
  test('asks the broker that acknowledged, in the first transaction only, and not for stable offsets (step 9)', async () => {
    const { cluster, session } = await opened({}, { places: (target) => (target.to === 'group-coordinator' ? 2 : 1) })
    await filled({ cluster, session })
    const [read, check, ...more] = cluster.callsOf('OffsetFetch')
    expect(read).toMatchObject({ target: { to: 'group-coordinator' }, body: { requireStable: true } })
    expect(check).toMatchObject({ target: { to: 'node', node: node(2) }, body: { requireStable: false } })
    expect(more).toEqual([])
    await session.commit(cluster.within(1_000))
    await filled({ cluster, session })
    expect(cluster.callsOf('OffsetFetch')).toHaveLength(2)
  })

  test.each([
    ['an older one', 3n],
    ['none', -1n],
  ])(
    '%s at the broker that acknowledged: OFFSETS_DISAGREE, and the coordinator is forgotten (P1)',
    async (_, found) => {
      const { cluster, session } = await opened({ OffsetFetch: inTurnOf([4n, 0], [found, 0]) })
      await session.begin([out(0)], cluster.within(1_000))
      const failure = await failureOf(session.sendOffsets([offset], cluster.within(1_000)))
      expect(failure).toMatchObject({ code: 'OFFSETS_DISAGREE', disposition: 'reopen', outcome: 'not-applied' })
      expect(cluster.forgotten).toContainEqual({ to: 'group-coordinator', key: 'shop.delays' })
      expect((await failureOf(session.commit(cluster.within(1_000)))).code).toBe('SESSION_POISONED')
    },
  )

  test('"none" that is confirmed as none is agreement', async () => {
    const { cluster, session } = await opened({ OffsetFetch: inTurnOf([-1n, 0]) })
    await filled({ cluster, session })
    await session.commit(cluster.within(1_000))
    expect(session.reusable).toBe(true)
  })

  test('a question of step 9 that stays unanswered is no clear yes', async () => {
    const { cluster, session } = await opened({
      OffsetFetch: (call, nth) => (nth === 1 ? offsetsFound(call.body, 4n) : lost(true)),
    })
    await session.begin([out(0)], cluster.within(1_000))
    expect((await failureOf(session.sendOffsets([offset], cluster.within(1_000)))).code).toBe('SESSION_POISONED')
  })

  test.each([14, 15, 16, 7])('code %d: the identical offsets again, to the coordinator of then', async (code) => {
    const { cluster, session } = await opened({
      TxnOffsetCommit: ({ body }, nth) => offsetsTaken(body, nth === 1 ? code : 0),
    })
    await filled({ cluster, session })
    const [first, second] = cluster.callsOf('TxnOffsetCommit')
    expect(second?.body).toEqual(first?.body)
  })

  test.each([12, 22, 25, 28, -1])('code %d poisons', async (code) => {
    const { cluster, session } = await opened({ TxnOffsetCommit: ({ body }) => offsetsTaken(body, code) })
    await session.begin([out(0)], cluster.within(1_000))
    expect((await failureOf(session.sendOffsets([offset], cluster.within(1_000)))).code).toBe('SESSION_POISONED')
  })
})

describe('commit (R3)', () => {
  const committing = async (script: Script): Promise<Opened> => {
    const both = await opened({ EndTxn: script })
    await filled(both)
    return both
  }
  const ended = { errorCode: 0, producerId: 7n, producerEpoch: 4 }
  const code = (errorCode: number) => ({ errorCode, producerId: -1n, producerEpoch: -1 })

  test.each([
    ['51', [code(51), ended]],
    ['14', [code(14), ended]],
    ['15', [code(15), ended]],
    ['16', [code(16), ended]],
    ['no answer', [lost(true), lost(true), ended]],
    ['no connection', [lost(false), ended]],
  ])('%s, then 0: committed', async (_, answers) => {
    const { cluster, session } = await committing(inTurn(...answers))
    await session.commit(cluster.within(1_000))
    expect(session).toMatchObject({ state: 'ready', producerEpoch: 4 })
    const bodies = cluster.callsOf('EndTxn').map(({ body }) => body)
    expect(bodies).toHaveLength(answers.length)
    expect(new Set(bodies).size).toBe(1)
  })

  test.each([47, 48, 49, 90])('%d at once: not committed', async (fenced) => {
    const { cluster, session } = await committing(inTurn(code(fenced)))
    const failure = await failureOf(session.commit(cluster.within(1_000)))
    expect(failure).toMatchObject({ code: 'SESSION_FENCED', outcome: 'not-applied' })
    expect(session.state).toBe('fenced')
  })

  test.each([
    ['90 after no answer', [lost(true), code(90)]],
    ['90 after 16', [code(16), code(90)]],
    ['47 after 15', [code(15), code(47)]],
    ['-1', [code(-1)]],
    ['7', [code(7)]],
    ['51 until the deadline', [code(51)]],
    ['16 until the deadline', [code(16)]],
    ['silence until the deadline', [lost(true)]],
  ])('%s: unknown', async (_, answers) => {
    const { cluster, session } = await committing(inTurn(...answers))
    const failure = await failureOf(session.commit(cluster.within(500)))
    expect(failure).toMatchObject({ code: 'COMMIT_UNKNOWN', outcome: 'unknown', disposition: 'reopen' })
    expect(session).toMatchObject({ state: 'unknown', reusable: false })
    const before = cluster.calls.length
    await session.abort(cluster.within(1_000))
    expect(cluster.calls.length).toBe(before)
  })

  test.each([
    ['no connection until the deadline', [lost(false)]],
    ['a coordinator that only loads (14)', [code(14)]],
    ['90 after what never left', [lost(false), code(90)]],
  ])('%s: not committed', async (_, answers) => {
    const { cluster, session } = await committing(inTurn(...answers))
    expect(await failureOf(session.commit(cluster.within(500)))).toMatchObject({ outcome: 'not-applied' })
    expect(session.reusable).toBe(false)
  })
})

describe('abort (R11)', () => {
  test('without anything sent, nothing is sent, and the session stays as it was', async () => {
    const { cluster, session } = await opened()
    await session.begin([out(0)], cluster.within(1_000))
    await session.abort(cluster.within(1_000))
    expect(cluster.callsOf('EndTxn')).toEqual([])
    expect(session).toMatchObject({ state: 'ready', producerEpoch: 3 })
  })

  test.each([
    ['no answer', [lost(true)], 'closed'],
    ['-1', [{ errorCode: -1 }], 'closed'],
    ['90', [{ errorCode: 90 }], 'fenced'],
  ] as const)('%s never throws; the barrier ends it', async (_, answers, state) => {
    const { cluster, session } = await opened({ EndTxn: inTurn(...answers) })
    await filled({ cluster, session })
    await session.abort(cluster.within(1_000))
    expect(session.state).toBe(state)
    expect(cluster.callsOf('EndTxn')).toHaveLength(1)
  })

  test('51 is sent again', async () => {
    const { cluster, session } = await opened({
      EndTxn: inTurn({ errorCode: 51 }, { errorCode: 0, producerId: 7n, producerEpoch: 4 }),
    })
    await filled({ cluster, session })
    await session.abort(cluster.within(1_000))
    expect(session).toMatchObject({ state: 'ready', producerEpoch: 4 })
  })
})

describe('readCommitted', () => {
  test('asks again while unstable', async () => {
    const cluster = new ScriptedBrokers({ ...yes, OffsetFetch: inTurnOf([4n, 88], [4n, 88], [5n, 0]) })
    const session = await openSession(cluster, config, evenRandom, cluster.within(10_000))
    expect(await session.readCommitted([source], cluster.within(10_000))).toEqual([
      { ...source, offset: 5n, metadata: '' },
    ])
    expect(cluster.callsOf('AddOffsetsToTxn')).toEqual([])
  })

  test('88 that outlasts the barrier: the group is joined in a transaction, which is aborted, and asked once more (P3)', async () => {
    let freed = false
    const cluster = new ScriptedBrokers({
      ...yes,
      OffsetFetch: ({ body }) => offsetsFound(body, 4n, freed ? 0 : 88),
      EndTxn: ({ body }) => {
        freed = true
        return { errorCode: 0, producerId: 7n, producerEpoch: body.producerEpoch + 1 }
      },
    })
    const session = await openSession(cluster, config, evenRandom, cluster.within(10_000))
    expect(await session.readCommitted([source], cluster.within(20_000))).toMatchObject([{ offset: 4n }])
    expect(cluster.callsOf('AddOffsetsToTxn')).toHaveLength(1)
    expect(cluster.callsOf('EndTxn')).toMatchObject([{ body: { committed: false } }])
    expect(session.reusable).toBe(true)
  })

  test('88 for ever is a named error, not an endless wait', async () => {
    const cluster = new ScriptedBrokers({ ...yes, OffsetFetch: inTurnOf([4n, 88]) })
    const session = await openSession(cluster, config, evenRandom, cluster.within(10_000))
    const failure = await failureOf(session.readCommitted([source], cluster.within(20_000)))
    expect(failure.code).toBe('BROKER_ERROR')
    expect(failure.message).toContain('flights-0')
  })
})

describe('offsets on the older protocol', () => {
  const older = { protocol: 1 } as const

  test('that are no longer pending before EndTxn are sent once more', async () => {
    const { cluster, session } = await opened(
      { OffsetFetch: inTurnOf([4n, 0], [4n, 0], [4n, 0], [4n, 88], [5n, 0]) },
      older,
    )
    await filled({ cluster, session })
    await session.commit(cluster.within(1_000))
    const [first, second, ...more] = cluster.callsOf('TxnOffsetCommit').map(({ body }) => body)
    expect(second).toEqual(first)
    expect(more).toEqual([])
    expect(session.reusable).toBe(true)
  })

  test('that are gone because the session was superseded: fenced, as the repeated request tells', async () => {
    const { cluster, session } = await opened(
      {
        OffsetFetch: inTurnOf([4n, 0]),
        TxnOffsetCommit: ({ body }, nth) => offsetsTaken(body, nth === 1 ? 0 : 47),
      },
      older,
    )
    await filled({ cluster, session })
    expect((await failureOf(session.commit(cluster.within(1_000)))).code).toBe('SESSION_FENCED')
    expect(cluster.callsOf('EndTxn')).toEqual([])
  })

  test('that vanish each time they are sent: nothing is committed', async () => {
    const { cluster, session } = await opened({ OffsetFetch: inTurnOf([4n, 0]) }, older)
    await filled({ cluster, session })
    expect(await failureOf(session.commit(cluster.within(1_000)))).toMatchObject({
      code: 'SESSION_POISONED',
      outcome: 'not-applied',
    })
    expect(cluster.callsOf('TxnOffsetCommit')).toHaveLength(4)
    expect(cluster.callsOf('EndTxn')).toEqual([])
  })

  test('that are gone after EndTxn and cannot be committed once more: the lane stops, and says that outputs are visible', async () => {
    const { cluster, session } = await opened({ OffsetFetch: inTurnOf([4n, 0], [4n, 0], [4n, 88], [4n, 0]) }, older)
    await filled({ cluster, session })
    expect(await failureOf(session.commit(cluster.within(1_000)))).toMatchObject({
      code: 'OFFSETS_LOST',
      disposition: 'stop-lane',
      outcome: 'applied',
    })
  })

  test('that nobody can read back in time: committed, but the next window needs a barrier', async () => {
    const { cluster, session } = await opened({ OffsetFetch: inTurnOf([4n, 0], [4n, 0], [4n, 88], [4n, 88]) }, older)
    await filled({ cluster, session })
    await session.commit(cluster.within(1_000))
    expect(session).toMatchObject({ state: 'closed', reusable: false })
  })
})
