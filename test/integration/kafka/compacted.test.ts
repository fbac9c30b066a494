import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kafka, logLevel, type Producer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { type FetchedPartition, readPartitions } from '../../../lib/kafka/fetch.ts'
import { listOffsets } from '../../../lib/kafka/offsets.ts'
import { type KafkaHandle, startKafka } from '../../../lib/local/kafka.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { freshName } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

let dir: string
let kafka: KafkaHandle
let cluster: Cluster
let plain: Producer
let transactional: Producer

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-compacted-'))
  kafka = await startKafka({ version: '4.1', dataDir: dir, config: { 'log.cleaner.backoff.ms': '100' } })
  cluster = clusterAt(kafka.brokers)
  const client = new Kafka({ brokers: [...kafka.brokers], clientId: 'fencepost-test', logLevel: logLevel.NOTHING })
  plain = client.producer()
  transactional = client.producer({ transactionalId: freshName('writer'), maxInFlightRequests: 1, idempotent: true })
  await Promise.all([plain.connect(), transactional.connect()])
})
afterAll(async () => {
  await Promise.all([plain.disconnect(), transactional.disconnect()])
  await cluster.close()
  await kafka.stop()
  await rm(dir, { recursive: true, force: true })
})

const partition = 0

test('a log that was really compacted is read to its end: no stop at batches, markers and transactions that are gone', async () => {
  const config = {
    'cleanup.policy': 'compact',
    'segment.ms': '100',
    'min.cleanable.dirty.ratio': '0.0001',
    'delete.retention.ms': '0',
  }
  const topic = await createTopic(kafka.brokers, 'compacted', { config })
  // A segment ends when a record is 100 ms younger than its first one: by their timestamps each write begins one.
  let timestampMs = Date.now()
  const messages = (texts: readonly string[]) => {
    timestampMs += 60_000
    return texts.map((text) => ({
      partition,
      key: text.split('=')[0] ?? null,
      value: text,
      timestamp: String(timestampMs),
    }))
  }
  const committed = await transactional.transaction()
  await committed.send({ topic, messages: messages(['a=1', 'b=1', 'c=1']) })
  await committed.commit()
  const aborted = await transactional.transaction()
  await aborted.send({ topic, messages: messages(['d=lost', 'e=lost']) })
  await aborted.abort()
  await plain.send({ topic, messages: messages(['b=2', 'f=1', 'g=1']) })
  await plain.send({ topic, messages: messages(['a=3', 'g=3']) })
  await plain.send({ topic, messages: messages(['c=4']) })
  await plain.send({ topic, messages: messages(['tail=5']) })

  const left = ['b=2', 'f=1', 'a=3', 'g=3', 'c=4', 'tail=5']
  await expect.poll(() => drain(topic, 1_000_000), { timeout: 30_000, interval: 200 }).toEqual(left)
  expect(await drain(topic, 1)).toEqual(left)
})

/** Window after window to the end, as a lane reads. */
async function drain(topic: string, maxBytes: number): Promise<string[]> {
  const asks = [{ topic, partition }]
  const [end] = await listOffsets(cluster, asks, { at: 'latest', isolation: 'read_committed' }, within(5_000))
  if (end === undefined || !('offset' in end)) throw new Error('no end', { cause: end?.error })
  const seen: string[] = []
  for (let from = 0n; from < end.offset; ) {
    const window = await read(topic, from, maxBytes)
    if (window.until <= from) throw new Error(`stuck at ${from}`)
    seen.push(...window.records.map(({ value }) => String(value)))
    from = window.until
  }
  return seen
}

async function read(topic: string, from: bigint, maxBytes: number): Promise<FetchedPartition> {
  const topicId = (await cluster.topics([topic], within(5_000))).get(topic)?.topicId ?? ''
  const asks = [{ topic, topicId, partition, from, until: 1_000n, maxBytes }]
  const [fetched] = await readPartitions(cluster, asks, { maxBytes, maxWaitMs: 200 }, within(10_000))
  if (fetched === undefined || fetched.error) throw new Error('not read', { cause: fetched?.error })
  return fetched
}
