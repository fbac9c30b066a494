import { describe, expect, test } from 'vitest'
import { isRelayError, RelayError } from '../../../lib/errors.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import { openSession } from '../../../lib/transaction/open-session.ts'
import { evenRandom, inTurn, lost, node, type Script, ScriptedBrokers } from '../../helpers/scripted-brokers.ts'

const config = { transactionalId: 'shop.delays.flights.0', group: 'shop.delays', transactionTimeoutMs: 901_000 }
const ready = { errorCode: 0, producerId: 7n, producerEpoch: 3 }

function openWith(script: Script, more: Record<string, Script> = {}, deadlineMs = 10_000) {
  const cluster = new ScriptedBrokers({ InitProducerId: script, ...more })
  return { cluster, session: openSession(cluster, config, evenRandom, cluster.within(deadlineMs)) }
}

async function failureOf(work: Promise<unknown>): Promise<RelayError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason) => reason,
  )
  if (isRelayError(error)) return error
  throw error
}

describe('the barrier', () => {
  test('asks for whatever producer the id has, and takes its answer', async () => {
    const { cluster, session } = openWith(inTurn(ready))
    expect(await session).toMatchObject({ producerId: 7n, producerEpoch: 3, protocol: 2, state: 'ready' })
    expect(cluster.callsOf('InitProducerId')).toMatchObject([
      {
        target: { to: 'transaction-coordinator', key: 'shop.delays.flights.0' },
        body: { transactionTimeoutMs: 901_000, producerId: -1n, producerEpoch: -1 },
      },
    ])
  })

  test.each([
    ['51', { errorCode: 51 }],
    ['14', { errorCode: 14 }],
    ['15', { errorCode: 15 }],
    ['16', { errorCode: 16 }],
    ['no answer', lost(true)],
    ['no connection', lost(false)],
  ])('%s: asked again after a short pause', async (_, answer) => {
    const { cluster, session } = openWith(inTurn(answer, answer, ready))
    expect((await session).reusable).toBe(true)
    expect(cluster.callsOf('InitProducerId')).toHaveLength(3)
    expect(cluster.clock.slept).toHaveLength(2)
    expect(Math.max(...cluster.clock.slept)).toBeLessThan(10)
  })

  test('whoever no longer has the id tries no more: another try would fence his successor', async () => {
    const cluster = new ScriptedBrokers({ InitProducerId: inTurn({ errorCode: 51 }) })
    let asked = 0
    const mayTryAgain = async () => {
      if (++asked === 3) throw new RelayError('FENCE_SUPERSEDED', 'somebody else has it')
    }
    const session = openSession(cluster, { ...config, mayTryAgain }, evenRandom, cluster.within(10_000))
    expect((await failureOf(session)).code).toBe('FENCE_SUPERSEDED')
    expect(cluster.callsOf('InitProducerId')).toHaveLength(3)
  })

  test('an epoch without room for a transaction is exchanged at once (P4)', async () => {
    const { cluster, session } = openWith(
      inTurn({ ...ready, producerEpoch: 32_766 }, { errorCode: 0, producerId: 8n, producerEpoch: 0 }),
    )
    expect(await session).toMatchObject({ producerId: 8n, producerEpoch: 0 })
    expect(cluster.callsOf('InitProducerId')).toHaveLength(2)
  })

  test('that stays closed names state, producer and partitions of the transaction (P15)', async () => {
    const { session, cluster } = openWith(inTurn({ errorCode: 51 }), {
      DescribeTransactions: () => ({
        transactionStates: [
          {
            errorCode: 0,
            transactionalId: 'shop.delays.flights.0',
            transactionState: 'PrepareCommit',
            producerId: 7n,
            producerEpoch: 3,
            topics: [{ topic: 'out', partitions: [1, 4] }],
          },
        ],
      }),
    })
    const before = cluster.clock.now()
    const failure = await failureOf(session)
    expect(failure).toMatchObject({ code: 'BARRIER_STUCK', disposition: 'retry', outcome: 'not-applied' })
    expect(failure.message).toContain('PrepareCommit')
    expect(failure.message).toContain('out-1, out-4')
    expect(failure.context).toMatchObject({ state: 'PrepareCommit', producerId: '7', partitions: ['out-1', 'out-4'] })
    expect(cluster.clock.now() - before).toBeLessThanOrEqual(10_000)
  })

  test('that stays closed says so although the coordinator does not describe it', async () => {
    const { session } = openWith(inTurn({ errorCode: 51 }), { DescribeTransactions: () => lost(true) })
    expect((await failureOf(session)).code).toBe('BARRIER_STUCK')
  })

  test('that was closed and then fell silent is still named as stuck', async () => {
    const { session } = openWith(
      inTurn({ errorCode: 51 }, lost(true)),
      { DescribeTransactions: () => lost(true) },
      2_000,
    )
    expect((await failureOf(session)).code).toBe('BARRIER_STUCK')
  })

  test('wrong credentials are not tried again', async () => {
    const refused = new TransportError(node(1), 'authentication', false, 'wrong password')
    const { session, cluster } = openWith(() => refused)
    expect(await failureOf(session)).toMatchObject({ code: 'AUTHENTICATION_FAILED', disposition: 'fix-config' })
    expect(cluster.callsOf('InitProducerId')).toHaveLength(1)
  })

  test.each([
    ['silence', lost(true)],
    ['a coordinator that moves (16)', { errorCode: 16 }],
  ])('%s until the deadline: BROKER_UNAVAILABLE', async (_, answer) => {
    const { session } = openWith(inTurn(answer), {}, 2_000)
    expect(await failureOf(session)).toMatchObject({ code: 'BROKER_UNAVAILABLE', disposition: 'retry' })
  })

  test('50: both timeouts are named', async () => {
    const configs = [{ name: 'transaction.max.timeout.ms', value: '900000' }]
    const { session, cluster } = openWith(inTurn({ errorCode: 50 }), {
      DescribeConfigs: () => ({ results: [{ errorCode: 0, configs }] }),
    })
    const failure = await failureOf(session)
    expect(failure).toMatchObject({ code: 'TRANSACTION_TIMEOUT_TOO_LONG', disposition: 'fix-config' })
    expect(failure.message).toMatch(/901000 ms.*900000/)
    expect(cluster.callsOf('DescribeConfigs')).toMatchObject([
      {
        body: {
          resources: [{ resourceType: 4, resourceName: '1', configurationKeys: ['transaction.max.timeout.ms'] }],
        },
      },
    ])
  })

  test('50 without the right to ask for the bound is still named', async () => {
    const { session } = openWith(inTurn({ errorCode: 50 }), {
      DescribeConfigs: () => ({ results: [{ errorCode: 31, configs: [] }] }),
    })
    expect((await failureOf(session)).code).toBe('TRANSACTION_TIMEOUT_TOO_LONG')
  })

  test.each([53, 29, 31])('%d: NOT_AUTHORIZED names operation and id, and nothing is asked again', async (code) => {
    const { session, cluster } = openWith(inTurn({ errorCode: code }))
    const failure = await failureOf(session)
    expect(failure).toMatchObject({ code: 'NOT_AUTHORIZED', disposition: 'fix-config' })
    expect(failure.message).toContain('InitProducerId of shop.delays.flights.0')
    expect(cluster.callsOf('InitProducerId')).toHaveLength(1)
  })
})
