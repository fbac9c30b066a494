import { describe, expect, test } from 'vitest'
import type { TopicMetadata } from '../../../lib/kafka/cluster.ts'
import { knownTransactions, openProducersOf, writeAbortMarker } from '../../../lib/transaction/hanging.ts'
import type { OpenProducer } from '../../../lib/transaction/judge-producer.ts'
import { lost, node, type Script, ScriptedBrokers } from '../../helpers/scripted-brokers.ts'
import { failureOf } from '../../helpers/sessions.ts'

/** A transaction log whose partitions are led by these nodes; null: by none. */
function brokersWith(leaders: readonly (number | null)[], scripts: Readonly<Record<string, Script>>): ScriptedBrokers {
  const brokers = new ScriptedBrokers(scripts)
  const partitions = leaders.map((leader, partition) => {
    return {
      partition,
      leader: leader === null ? null : node(leader),
      leaderEpoch: 0,
      replicas: [],
      inSyncReplicas: [],
    }
  })
  const log: TopicMetadata = { name: '__transaction_state', topicId: 'log', partitions }
  brokers.topics = async () => (leaders.length > 0 ? new Map([[log.name, log]]) : new Map())
  return brokers
}

const listing = (...ids: readonly string[]) => ({
  errorCode: 0,
  transactionStates: ids.map((transactionalId) => ({ transactionalId, producerId: 7n, transactionState: 'Ongoing' })),
})
const described = (transactionalId: string, over = {}) => ({
  transactionStates: [
    {
      errorCode: 0,
      transactionalId,
      transactionState: 'Ongoing',
      transactionStartTimeMs: 99n,
      producerId: 7n,
      producerEpoch: 3,
      topics: [{ topic: 'flights', partitions: [0, 2] }],
      ...over,
    },
  ],
})

describe('what is known of a producer', () => {
  test('is asked of every broker that leads a part of the transaction log, once', async () => {
    const brokers = brokersWith([1, 2, 1, 3], {
      ListTransactions: ({ target }) =>
        listing(...(target.to === 'node' && target.node.nodeId === 3 ? ['theirs'] : [])),
      DescribeTransactions: () => described('theirs', { producerId: 8n }),
    })
    expect(await knownTransactions(brokers, [7n], brokers.within(5_000))).toEqual([
      {
        transactionalId: 'theirs',
        producerIds: [7n, 8n],
        producerEpoch: 3,
        state: 'Ongoing',
        startedAtMs: 99,
        partitions: new Set(['flights-0', 'flights-2']),
      },
    ])
    const asked = brokers.callsOf('ListTransactions').map(({ target }) => target.to === 'node' && target.node.nodeId)
    expect(asked.toSorted()).toEqual([1, 2, 3])
  })

  test.each([
    ['a part of the log has no leader', [1, null], () => listing(), 'BROKER_UNAVAILABLE'],
    ['the log cannot be seen', [], () => listing(), 'TOPIC_MISSING'],
    ['a coordinator still loads', [1, 2], () => ({ ...listing(), errorCode: 14 }), 'BROKER_ERROR'],
    ['an id is gone when it is described', [1], () => listing('theirs'), 'BROKER_ERROR'],
  ] as const)('cannot be told when %s: nothing is taken for unknown', async (_, leaders, answer, code) => {
    const brokers = brokersWith(leaders, {
      ListTransactions: answer,
      DescribeTransactions: () => described('theirs', { errorCode: 105 }),
    })
    expect((await failureOf(knownTransactions(brokers, [7n], brokers.within(5_000)))).code).toBe(code)
  })

  test('cannot be told when a coordinator is silent', async () => {
    const brokers = brokersWith([1, 2], { ListTransactions: (_, nth) => (nth === 1 ? listing() : lost(true)) })
    await expect(knownTransactions(brokers, [7n], brokers.within(5_000))).rejects.toThrow('the connection broke')
  })
})

const open: OpenProducer = {
  topic: 'flights',
  partition: 2,
  producerId: 7n,
  producerEpoch: 3,
  coordinatorEpoch: -1,
  startOffset: 12n,
  lastSequence: 0,
  lastTimestampMs: 5,
}

test('only producers with an open transaction count as open', async () => {
  const producer = { producerId: 7n, producerEpoch: 3, lastSequence: 0, lastTimestamp: 5n, coordinatorEpoch: -1 }
  const activeProducers = [
    { ...producer, currentTxnStartOffset: 12n },
    { ...producer, producerId: 8n, currentTxnStartOffset: -1n },
  ]
  const partitions = [{ partitionIndex: 2, errorCode: 0, errorMessage: null, activeProducers }]
  const brokers = brokersWith([1], { DescribeProducers: () => ({ topics: [{ name: 'flights', partitions }] }) })
  expect(await openProducersOf(brokers, open, brokers.within(5_000))).toEqual([open])
})

describe('an abort marker', () => {
  const answered = (errorCode: number) => () => ({
    markers: [{ producerId: 7n, topics: [{ name: 'flights', partitions: [{ partitionIndex: 2, errorCode }] }] }],
  })

  test('names the one partition, and an epoch of its coordinator that is legal', async () => {
    const brokers = brokersWith([1], { WriteTxnMarkers: answered(0) })
    await writeAbortMarker(brokers, open, brokers.within(5_000))
    expect(brokers.callsOf('WriteTxnMarkers').map(({ body, target }) => ({ body, target }))).toEqual([
      {
        target: { to: 'leader', topic: 'flights', partition: 2 },
        body: {
          markers: [
            {
              producerId: 7n,
              producerEpoch: 3,
              transactionResult: false,
              topics: [{ name: 'flights', partitionIndexes: [2] }],
              coordinatorEpoch: 0,
            },
          ],
        },
      },
    ])
  })

  test.each([
    [31, 'NOT_AUTHORIZED', 'allow this user Alter on the cluster'],
    [47, 'BROKER_ERROR', 'INVALID_PRODUCER_EPOCH'],
    [52, 'BROKER_ERROR', 'TRANSACTION_COORDINATOR_FENCED'],
  ])('that is refused with %i is not taken for written', async (errorCode, code, message) => {
    const brokers = brokersWith([1], { WriteTxnMarkers: answered(errorCode) })
    const failure = await failureOf(writeAbortMarker(brokers, open, brokers.within(5_000)))
    expect(failure).toMatchObject({ code, message: expect.stringContaining(message) })
  })
})
