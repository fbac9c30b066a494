import { describe, expect, test } from 'vitest'
import { endHanging, findOpenTransactions } from '../../../../lib/relay/operator/hanging-transactions.ts'
import type { RelayDeployment } from '../../../../lib/relay/runtime.ts'
import { ScriptedCluster, topic } from '../../../helpers/scripted-cluster.ts'

const olderThanMs = 1_000

/** One partition of an output. Its leader is asked for open transactions again and again: these are its answers, in turn. */
function partitionWith(...openEpochs: readonly (number | 'grows' | null)[]) {
  const cluster = new ScriptedCluster(
    {
      DescribeProducers: (_body, _node, count) => {
        const is = openEpochs[Math.min(count, openEpochs.length - 1)] ?? null
        const answered = is === 'grows' ? partition(3, count) : partition(is)
        return { throttleTimeMs: 0, topics: [{ name: 'copy', partitions: [answered] }] }
      },
      ListTransactions: () => ({
        throttleTimeMs: 0,
        errorCode: 0,
        unknownStateFilters: [],
        transactionStates: [{ transactionalId: 'shop.copy.source.0', producerId: 7n, transactionState: 'Empty' }],
      }),
      DescribeTransactions: () => ({ throttleTimeMs: 0, transactionStates: [endedByBarrier] }),
      WriteTxnMarkers: () => ({ markers: [{ producerId: 7n, topics: [acknowledged] }] }),
    },
    [topic('copy', 'id', [1]), topic('__transaction_state', 'log', [1])],
  )
  const deployment = {
    cluster,
    clock: cluster.clock,
    relay: { name: 'copy' },
    settings: { prefix: 'shop' },
  } as unknown as RelayDeployment // all that a search reads
  const question = { topics: ['copy'], olderThanMs }
  return {
    cluster,
    deployment,
    find: () => cluster.run((deadline) => findOpenTransactions(deployment, question, deadline)),
  }
}

/** The lane's next owner has been behind its barrier: the coordinator is at epoch 4 and waits for no marker. */
const endedByBarrier = {
  errorCode: 0,
  transactionalId: 'shop.copy.source.0',
  transactionState: 'CompleteAbort',
  transactionTimeoutMs: 60_000,
  transactionStartTimeMs: -1n,
  producerId: 7n,
  producerEpoch: 4,
  topics: [],
}
const acknowledged = { name: 'copy', partitions: [{ partitionIndex: 0, errorCode: 0 }] }

const partition = (epoch: number | null, lastSequence = 0) => ({
  partitionIndex: 0,
  errorCode: 0,
  errorMessage: null,
  activeProducers:
    epoch === null
      ? []
      : [
          {
            producerId: 7n,
            producerEpoch: epoch,
            lastSequence,
            lastTimestamp: -5_000n,
            coordinatorEpoch: 0,
            currentTxnStartOffset: 12n,
          },
        ],
})

describe('the search for hanging transactions under load', () => {
  test('does not take for hanging what its coordinator has ended while it was asked', async () => {
    const { find } = partitionWith(3, null)
    expect(await find()).toEqual([])
  })

  test('takes for hanging what is still open after its coordinator has moved on', async () => {
    const { find } = partitionWith(3)
    expect(await find()).toMatchObject([{ verdict: { kind: 'hanging' }, open: { startOffset: 12n } }])
  })

  test('writes no marker for what was ended between the last look and the marker', async () => {
    const { cluster, deployment, find } = partitionWith(3, 3, 3, null)
    const [found] = await find()
    if (!found) throw new Error('nothing was found')
    const ended = await cluster.run((deadline) => endHanging(deployment, found, olderThanMs, deadline))
    expect(ended).toEqual({ kind: 'ended' })
    expect(cluster.asked.filter(({ api }) => api === 'WriteTxnMarkers')).toEqual([])
  })

  test('writes no marker for what was written to since: its producer lives, whoever may not see it (P9)', async () => {
    const { cluster, deployment, find } = partitionWith('grows')
    const [found] = await find()
    if (!found) throw new Error('nothing was found')
    const ended = await cluster.run((deadline) => endHanging(deployment, found, olderThanMs, deadline))
    expect(ended).toMatchObject({ kind: 'not ended', error: { message: expect.stringContaining('Describe on all') } })
    expect(cluster.asked.filter(({ api }) => api === 'WriteTxnMarkers')).toEqual([])
  })
})
