import { expect, test } from 'vitest'
import { Progress } from '../../../lib/verify/progress.ts'
import { type LogRange, readLogBatches } from '../../../lib/verify/read-batches.ts'
import { readLog } from '../../../lib/verify/read-log.ts'
import { fetchAnswer, fetchedPartition } from '../../helpers/fetch-answers.ts'
import { logBatch, marker } from '../../helpers/log-batches.ts'
import { ScriptedCluster, topic } from '../../helpers/scripted-cluster.ts'

const topicId = '00000000-0000-0000-0000-000000000001'
const range = (from: bigint, until: bigint): LogRange => ({ topic: 'out', topicId, partition: 0, from, until })

interface Piece {
  readonly batches: readonly Buffer[]
  readonly aborted?: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[]
  readonly errorCode?: number
  readonly stable?: bigint
}

/** Answers each fetch with the piece for its offset; asked for an offset without a piece, with nothing. */
function clusterOf(pieces: Readonly<Record<string, Piece | readonly Piece[]>>): ScriptedCluster {
  const asked = new Map<string, number>()
  return new ScriptedCluster(
    {
      Fetch: ({ topics, isolationLevel }) => {
        const offset = String(topics[0]?.partitions[0]?.fetchOffset)
        const key = isolationLevel === 0 ? `raw ${offset}` : offset
        const times = asked.get(key) ?? 0
        asked.set(key, times + 1)
        const found = pieces[key] ?? { batches: [] }
        const piece = Array.isArray(found) ? found[Math.min(times, found.length - 1)] : found
        return answerOf(piece)
      },
      ListOffsets: () => ({
        throttleTimeMs: 0,
        topics: [
          {
            name: 'out',
            partitions: [{ partitionIndex: 0, errorCode: 0, timestamp: -1n, offset: 100n, leaderEpoch: 0 }],
          },
        ],
      }),
    },
    [topic('out', topicId, [1])],
  )
}

function answerOf({ batches, aborted = [], errorCode = 0, stable = 50n }: Piece) {
  const partition = fetchedPartition({
    errorCode,
    highWatermark: 100n,
    lastStableOffset: stable,
    abortedTransactions: aborted,
    records: Buffer.concat(batches),
  })
  return fetchAnswer(topicId, [partition])
}

const data = (baseOffset: bigint, count: number, producerId?: bigint) =>
  logBatch({
    baseOffset,
    deltas: Array.from({ length: count }, (_, index) => index),
    ...(producerId !== undefined && { producerId, transactional: true }),
  })

async function read(cluster: ScriptedCluster, { from, until }: { from: bigint; until: bigint }) {
  const seen: string[] = []
  const progress = new Progress(cluster.clock, () => undefined)
  const { transactions, removed } = await cluster.run(() =>
    readLog(cluster, range(from, until), progress, (batch, transaction) => {
      seen.push(`${batch.baseOffset}+${batch.recordCount} in ${transaction}`)
    }),
  )
  const fates = transactions.map(({ fate, visible, hidden }) => `${fate} ${visible} ${hidden}`)
  return { seen, fates, transactions, removed }
}

test('each batch of the range is handed out once, over several answers', async () => {
  const cluster = clusterOf({ 0: { batches: [data(0n, 3), data(3n, 2)] }, 5: { batches: [data(5n, 5)] } })
  expect(await read(cluster, { from: 0n, until: 10n })).toMatchObject({ seen: ['0+3 in -1', '3+2 in -1', '5+5 in -1'] })
  expect(cluster.asked.filter(({ api }) => api === 'Fetch')).toHaveLength(2)
})

test('nothing is asked of an empty range', async () => {
  const cluster = clusterOf({})
  expect(await read(cluster, { from: 7n, until: 7n })).toMatchObject({ seen: [], fates: [] })
  expect(cluster.asked).toEqual([])
})

test('a batch behind the range is not handed out', async () => {
  const cluster = clusterOf({ 0: { batches: [data(0n, 5), data(5n, 5)] } })
  expect(await read(cluster, { from: 0n, until: 5n })).toMatchObject({ seen: ['0+5 in -1'] })
})

test('the end of the range may have been compacted away', async () => {
  const cluster = clusterOf({ 0: { batches: [data(0n, 2)] }, 2: { batches: [], stable: 10n } })
  expect(await read(cluster, { from: 0n, until: 10n })).toMatchObject({ seen: ['0+2 in -1'], removed: 8n })
})

test('an empty answer alone is no end: a broker whose remote storage is slow gives one before it gives the records', async () => {
  const empty = { batches: [], stable: 10n }
  const cluster = clusterOf({ 0: { batches: [data(0n, 5)] }, 5: [empty, empty, { batches: [data(5n, 5)] }] })
  expect(await read(cluster, { from: 0n, until: 10n })).toMatchObject({ seen: ['0+5 in -1', '5+5 in -1'], removed: 0n })
})

test('offsets without a record are counted: compaction removes records between batches, in them, and all of one', async () => {
  const batches = [
    data(1n, 2),
    logBatch({ baseOffset: 5n, deltas: [1], lastOffsetDelta: 2 }),
    logBatch({ baseOffset: 8n, deltas: [], lastOffsetDelta: 1 }),
  ]
  const cluster = clusterOf({ 0: { batches } })
  expect(await read(cluster, { from: 0n, until: 10n })).toMatchObject({ removed: 1n + 2n + 2n + 2n })
})

test('a log with aborted records and markers has lost none of them', async () => {
  const batches = [data(0n, 3, 7n), marker('abort', 3n, 7n), data(4n, 2)]
  const cluster = clusterOf({ 1: { batches, aborted: [{ producerId: 7n, firstOffset: 0n }] } })
  expect(await read(cluster, { from: 1n, until: 5n })).toMatchObject({ removed: 0n })
})

test('a leader that moved, or answers too low, is asked again', async () => {
  const cluster = clusterOf({
    0: [{ batches: [], errorCode: 6 }, { batches: [], stable: 0n }, { batches: [data(0n, 5)] }],
  })
  expect(await read(cluster, { from: 0n, until: 5n })).toMatchObject({ seen: ['0+5 in -1'] })
  expect(cluster.forgotten).toContainEqual({ to: 'leader', topic: 'out', partition: 0 })
})

test.each([
  [1, 'OFFSET_OUT_OF_RANGE'],
  [29, 'NOT_AUTHORIZED'],
])('code %i is %s', async (errorCode, code) => {
  const cluster = clusterOf({ 0: { batches: [], errorCode } })
  await expect(read(cluster, { from: 0n, until: 5n })).rejects.toMatchObject({ code })
})

test('a damaged batch is an error, not a loss', async () => {
  const damaged = data(0n, 5)
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1)
  const cluster = clusterOf({ 0: { batches: [damaged] } })
  await expect(read(cluster, { from: 0n, until: 5n })).rejects.toMatchObject({ code: 'CORRUPT_BATCH' })
})

test('markers tell what became of transactions, interleaved ones too', async () => {
  const batches = [
    data(0n, 1, 7n),
    data(1n, 2, 8n),
    data(3n, 1, 7n),
    marker('abort', 4n, 8n),
    marker('commit', 5n, 7n),
    data(6n, 1, 8n),
    marker('commit', 7n, 8n),
  ]
  const cluster = clusterOf({ 0: { batches, aborted: [{ producerId: 8n, firstOffset: 1n }] } })
  expect(await read(cluster, { from: 0n, until: 8n })).toMatchObject({
    seen: ['0+1 in 0', '3+1 in 0', '6+1 in 2'],
    fates: ['committed 2 0', 'aborted 0 2', 'committed 1 0'],
  })
})

test("the broker's own list of aborted transactions is not believed: what it lets through is told", async () => {
  const batches = [data(0n, 3, 7n), marker('abort', 3n, 7n)]
  const cluster = clusterOf({ 0: { batches, aborted: [] } })
  expect(await read(cluster, { from: 0n, until: 4n })).toMatchObject({ seen: ['0+3 in 0'], fates: ['aborted 3 0'] })
})

test('a committed transaction that the list hides is told', async () => {
  const batches = [data(0n, 3, 7n), marker('commit', 3n, 7n)]
  const cluster = clusterOf({ 0: { batches, aborted: [{ producerId: 7n, firstOffset: 0n }] } })
  expect(await read(cluster, { from: 0n, until: 4n })).toMatchObject({ seen: [], fates: ['committed 0 3'] })
})

test('a marker behind the range is found: another transaction may end what readers see before it', async () => {
  const cluster = clusterOf({
    0: { batches: [data(0n, 3, 7n)], stable: 3n },
    'raw 3': { batches: [data(3n, 2, 8n), marker('commit', 5n, 7n)] },
  })
  const { fates, transactions } = await read(cluster, { from: 0n, until: 3n })
  expect(fates).toEqual(['committed 3 0'])
  expect(transactions[0]?.markerOffset).toBe(5n)
})

test('a transaction without any marker stays open', async () => {
  const cluster = clusterOf({ 0: { batches: [data(0n, 3, 7n)], stable: 3n }, 'raw 3': { batches: [data(3n, 97, 8n)] } })
  expect(await read(cluster, { from: 0n, until: 3n })).toMatchObject({ fates: ['open 3 0'] })
})

test('a marker without records is a transaction without records', async () => {
  const cluster = clusterOf({ 0: { batches: [marker('abort', 0n, 7n)] } })
  expect(await read(cluster, { from: 0n, until: 1n })).toMatchObject({ fates: ['aborted 0 0'] })
})

test('a reader who stops early is not told of a later failure', async () => {
  const cluster = clusterOf({ 0: { batches: [data(0n, 5)] }, 5: { batches: [], errorCode: 1 } })
  await cluster.run(async () => {
    for await (const { batch } of readLogBatches(cluster, range(0n, 10n))) {
      expect(batch.baseOffset).toBe(0n)
      break
    }
  })
})
