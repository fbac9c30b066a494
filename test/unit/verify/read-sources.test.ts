import { expect, test } from 'vitest'
import type { CompiledRelay } from '../../../lib/relay/compiled-relay.ts'
import { expectIds } from '../../../lib/verify/expect-ids.ts'
import { idIdentity } from '../../../lib/verify/identity.ts'
import { Progress } from '../../../lib/verify/progress.ts'
import { readSources } from '../../../lib/verify/read-sources.ts'
import { fetchAnswer, fetchedPartition } from '../../helpers/fetch-answers.ts'
import { logBatch } from '../../helpers/log-batches.ts'
import { ScriptedCluster, topic } from '../../helpers/scripted-cluster.ts'

const topicId = '00000000-0000-0000-0000-000000000001'
const momentMs = 5_000

/** Offsets 0, 1 and 2; the first record dated at or after the moment is 2. */
function clusterOf({ logStart = 0n } = {}): ScriptedCluster {
  const offsets = new Map([
    [-2n, logStart],
    [-1n, 3n],
    [BigInt(momentMs), 2n],
  ])
  return new ScriptedCluster(
    {
      ListOffsets: ({ topics }) => {
        const timestamp = topics[0]?.partitions[0]?.timestamp ?? 0n
        const offset = offsets.get(timestamp) ?? -1n
        const partition = { partitionIndex: 0, errorCode: 0, timestamp, offset, leaderEpoch: 0 }
        return { throttleTimeMs: 0, topics: [{ name: 'in', partitions: [partition] }] }
      },
      Fetch: ({ topics }) => {
        const from = topics[0]?.partitions[0]?.fetchOffset ?? 0n
        const deltas = Array.from({ length: Number(3n - from) }, (_, delta) => delta)
        const partition = fetchedPartition({
          highWatermark: 3n,
          lastStableOffset: 3n,
          logStartOffset: logStart,
          records: logBatch({ baseOffset: from, deltas }),
        })
        return fetchAnswer(topicId, [partition])
      },
    },
    [topic('in', topicId, [1])],
  )
}

async function read(cluster: ScriptedCluster, startAt: CompiledRelay['startAt'], sinceMs: number | null = null) {
  const place = { topic: 'in', partition: 0, topicId }
  const scope = {
    clusterId: 'scripted',
    group: 'p.copy',
    lanes: [],
    sources: [place],
    outputs: [],
    partitionCounts: new Map(),
  }
  const committed = new Map([['in-0', { offset: 3n, metadata: '' }]])
  const ask = { scope, startAt, sinceMs, committed, committedAfter: committed, remembered: new Map() }
  const expecting = expectIds(idIdentity({ in: 'header', name: 'id' }), null)
  const [source] = await cluster.run(() =>
    readSources(cluster, ask, expecting, new Progress(cluster.clock, () => undefined)),
  )
  return source
}

test('a whole log is read from its start, and nothing was before', async () => {
  expect(await read(clusterOf(), 'earliest')).toMatchObject({ from: 0n, before: 'start', records: 3, removed: 0n })
})

test('retention may have taken records that were relayed', async () => {
  expect(await read(clusterOf({ logStart: 1n }), 'earliest')).toMatchObject({ from: 1n, before: 'older' })
})

test('only what was written lately is read, and older records were relayed', async () => {
  expect(await read(clusterOf(), 'earliest', momentMs)).toMatchObject({ from: 2n, before: 'older', records: 1 })
})

test('a relay that starts at a moment may have relayed late records with earlier dates before the first that is dated so', async () => {
  expect(await read(clusterOf(), { timestampMs: momentMs })).toMatchObject({ from: 2n, before: 'older', records: 1 })
})

test('where a relay started at an event is not known', async () => {
  expect(await read(clusterOf(), 'event')).toMatchObject({ from: 0n, before: 'unknown start' })
})
