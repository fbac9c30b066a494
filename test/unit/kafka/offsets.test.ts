import { expect, test } from 'vitest'
import { fetchCommitted, listOffsets } from '../../../lib/kafka/offsets.ts'
import type { ListOffsetsRequest, ListOffsetsResponse } from '../../../lib/kafka/protocol/generated/list-offsets.ts'
import type { OffsetFetchRequest, OffsetFetchResponse } from '../../../lib/kafka/protocol/generated/offset-fetch.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import { node, ScriptedCluster, topic } from '../../helpers/scripted-cluster.ts'

const flights = topic('flights', 'id-1', [1, 2], 4)
const both = [0, 1].map((partition) => ({ topic: 'flights', partition }))

/** Answers each partition with offset 10 + partition, or with the code that the test names. */
const ends =
  (codes: Readonly<Record<number, number>> = {}) =>
  (body: ListOffsetsRequest): ListOffsetsResponse => ({
    throttleTimeMs: 0,
    topics: body.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex }) => {
        const errorCode = codes[partitionIndex] ?? 0
        return { partitionIndex, errorCode, timestamp: -1n, offset: BigInt(10 + partitionIndex), leaderEpoch: 4 }
      }),
    })),
  })

test.each([
  ['latest', 'read_committed', -1n, 1],
  ['earliest', 'read_uncommitted', -2n, 0],
  [1_700_000_000_000, 'read_committed', 1_700_000_000_000n, 1],
] as const)('%s as %s is asked from each leader with its epoch', async (at, isolation, timestamp, isolationLevel) => {
  const cluster = new ScriptedCluster({ ListOffsets: ends() }, [flights])
  const answers = await cluster.run((deadline) => listOffsets(cluster, both, { at, isolation }, deadline))
  expect(answers).toEqual(
    both.map((place) => ({ ...place, offset: BigInt(10 + place.partition), leaderEpoch: 4, timestampMs: -1 })),
  )
  expect(cluster.asked.map(({ body }) => body)).toEqual(
    both.map(({ topic: name, partition: partitionIndex }) => ({
      replicaId: -1,
      isolationLevel,
      topics: [{ name, partitions: [{ partitionIndex, currentLeaderEpoch: 4, timestamp }] }],
    })),
  )
})

const latest = { at: 'latest', isolation: 'read_committed' } as const

test('one refused partition does not spoil the other', async () => {
  const cluster = new ScriptedCluster({ ListOffsets: ends({ 1: 29 }) }, [flights])
  const [good, bad] = await cluster.run((deadline) => listOffsets(cluster, both, latest, deadline))
  expect(good).toMatchObject({ offset: 10n })
  expect(bad).toMatchObject({ partition: 1, error: { code: 'NOT_AUTHORIZED' } })
})

test.each([6, 74, 75, 78])('code %d is asked again with fresh metadata', async (code) => {
  const ListOffsets = (body: ListOffsetsRequest, _: unknown, count: number) =>
    ends(count === 0 ? { 0: code } : {})(body)
  const cluster = new ScriptedCluster({ ListOffsets }, [flights])
  const [first] = await cluster.run((deadline) => listOffsets(cluster, both.slice(0, 1), latest, deadline))
  expect(first).toMatchObject({ offset: 10n })
  expect(cluster.freshLooks).toBe(1)
})

test('a topic with another id than wanted is SOURCE_REPLACED, and its offsets are not asked for', async () => {
  const cluster = new ScriptedCluster({ ListOffsets: ends() }, [flights])
  const asks = [{ topic: 'flights', partition: 0, topicId: 'id-0' }]
  const [answer] = await cluster.run((deadline) => listOffsets(cluster, asks, latest, deadline))
  expect(answer).toMatchObject({ error: { code: 'SOURCE_REPLACED' } })
  expect(cluster.asked).toEqual([])
})

interface Stored {
  readonly committedOffset?: bigint
  readonly errorCode?: number
  readonly metadata?: string | null
}

const committed = (stored: readonly Stored[], errorCode = 0): OffsetFetchResponse => ({
  throttleTimeMs: 0,
  groups: [
    {
      groupId: 'group',
      errorCode,
      topics: [
        {
          name: 'flights',
          partitions: stored.map((each, partitionIndex) => ({
            partitionIndex,
            committedOffset: each.committedOffset ?? -1n,
            committedLeaderEpoch: 3,
            metadata: each.metadata ?? null,
            errorCode: each.errorCode ?? 0,
          })),
        },
      ],
    },
  ],
})

const question = { group: 'group', partitions: both, requireStable: true }

test('committed offsets come with metadata and epoch; none is null, and only without an error', async () => {
  const OffsetFetch = () => committed([{ committedOffset: 7n, metadata: 'm' }, {}])
  const cluster = new ScriptedCluster({ OffsetFetch })
  expect(await cluster.run((deadline) => fetchCommitted(cluster, question, deadline))).toEqual([
    { topic: 'flights', partition: 0, offset: 7n, metadata: 'm', leaderEpoch: 3 },
    { topic: 'flights', partition: 1, offset: null, metadata: '', leaderEpoch: 3 },
  ])
  expect(cluster.asked).toMatchObject([
    {
      target: { to: 'group-coordinator', key: 'group' },
      body: {
        requireStable: true,
        groups: [{ groupId: 'group', topics: [{ name: 'flights', partitionIndexes: [0, 1] }] }],
      },
    },
  ])
})

test('an unstable offset is said to be unstable, without a number, and asked once', async () => {
  const OffsetFetch = () => committed([{ errorCode: 88, committedOffset: 7n }, { committedOffset: 8n }])
  const cluster = new ScriptedCluster({ OffsetFetch })
  const answers = await cluster.run((deadline) => fetchCommitted(cluster, question, deadline))
  expect(answers).toMatchObject([{ partition: 0, unstable: true }, { offset: 8n }])
  expect(answers[0]).not.toHaveProperty('offset')
  expect(cluster.asked).toHaveLength(1)
})

test.each([14, 15, 16])('code %d of the group asks again, at a coordinator looked up anew', async (code) => {
  const OffsetFetch = (_: OffsetFetchRequest, __: unknown, count: number) =>
    count === 0 ? committed([{}, {}], code) : committed([{ committedOffset: 7n }, { committedOffset: 8n }])
  const cluster = new ScriptedCluster({ OffsetFetch })
  const answers = await cluster.run((deadline) => fetchCommitted(cluster, question, deadline))
  expect(answers).toMatchObject([{ offset: 7n }, { offset: 8n }])
  expect(cluster.forgotten).toEqual([{ to: 'group-coordinator', key: 'group' }])
})

test('an error of the group is an error of every partition, never "nothing committed"', async () => {
  const cluster = new ScriptedCluster({ OffsetFetch: () => committed([{}, {}], 30) })
  const answers = await cluster.run((deadline) => fetchCommitted(cluster, question, deadline))
  expect(answers).toMatchObject([{ error: { code: 'NOT_AUTHORIZED' } }, { error: { code: 'NOT_AUTHORIZED' } }])
})

test('a partition that the answer leaves out is an error, never "nothing committed"', async () => {
  const cluster = new ScriptedCluster({ OffsetFetch: () => committed([{ committedOffset: 7n }]) })
  const answers = await cluster.run((deadline) => fetchCommitted(cluster, question, deadline), 500)
  expect(answers).toMatchObject([{ offset: 7n }, { error: { code: 'BROKER_ERROR' } }])
})

test.each([
  ['says that it is not the coordinator', () => committed([{}, {}], 16)],
  [
    'is silent',
    () => {
      throw new TransportError(node(3), 'closed', true, 'connection closed')
    },
  ],
])('a pinned broker that %s is not replaced by another', async (_, OffsetFetch) => {
  const cluster = new ScriptedCluster({ OffsetFetch })
  const answers = await cluster.run((deadline) => fetchCommitted(cluster, { ...question, node: node(3) }, deadline))
  expect(answers).toMatchObject([{ error: {} }, { error: {} }])
  expect(cluster.asked).toMatchObject([{ target: { to: 'node', node: { nodeId: 3 } } }])
})
