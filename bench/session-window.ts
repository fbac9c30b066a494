/**
 * One raw window of a session on a real broker: begin, outputs and source offset in parallel, commit; the next one starts
 * `--gap` ms after the last EndTxn answer, as if it had been fetched meanwhile (default 1).
 *
 * node bench/session-window.ts [--kafka 4.1|3.9] [--windows 300] [--gap 1] [--json]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { type Deadline, deadlineIn, systemClock, systemRandom } from '../lib/clock.ts'
import { createCluster } from '../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../lib/kafka/kafkajs-transport.ts'
import { BatchBuilder } from '../lib/kafka/record-batch/encode.ts'
import { startKafka } from '../lib/local/kafka.ts'
import { openSession } from '../lib/transaction/open-session.ts'
import type { PartitionBatches, TransactionSession } from '../lib/transaction/session.ts'

const PARTITIONS = 4
const VALUE_BYTES = 200
const topic = 'window'
const within = (ms: number): Deadline => deadlineIn(systemClock, ms)

const { values: options } = parseArgs({
  options: {
    kafka: { type: 'string', default: '4.1' },
    windows: { type: 'string', default: '300' },
    gap: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})
const version = options.kafka === '3.9' ? '3.9' : '4.1'
const gapMs = Number(options.gap)

function outputsOf(records: number): PartitionBatches[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const builder = new BatchBuilder({ maxBytes: 4_000_000 })
    const record = { key: null, value: Buffer.alloc(VALUE_BYTES, partition), timestampMs: Date.now() }
    for (let index = 0; index < records / PARTITIONS; index++) builder.tryAppend(record)
    return { topic, partition, batches: [builder] }
  })
}

const partitions = Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition }))

async function oneWindow(session: TransactionSession, outputs: readonly PartitionBatches[], offset: number) {
  const started = performance.now()
  await session.begin(partitions, within(30_000))
  const joined = performance.now()
  const offsets = [{ topic, partition: 0, offset: BigInt(offset), leaderEpoch: -1, metadata: '' }]
  await Promise.all([session.send(outputs, within(30_000)), session.sendOffsets(offsets, within(30_000))])
  const sent = performance.now()
  await session.commit(within(30_000))
  const ended = performance.now()
  return { begin: joined - started, send: sent - joined, commit: ended - sent, whole: ended - started }
}

const quantile = (sorted: readonly number[], part: number): number =>
  Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(2))

type Timing = Awaited<ReturnType<typeof oneWindow>>

function summary(timings: readonly Timing[]): Record<string, number> {
  const sorted = (name: keyof Timing) => timings.map((timing) => timing[name]).sort((a, b) => a - b)
  const whole = sorted('whole')
  const phases = (['begin', 'send', 'commit'] as const).map((name) => [`${name}MsP50`, quantile(sorted(name), 0.5)])
  return { msP50: quantile(whole, 0.5), msP99: quantile(whole, 0.99), ...Object.fromEntries(phases) }
}

const dataDir = await mkdtemp(join(tmpdir(), 'fencepost-bench-'))
const kafka = await startKafka({ version, dataDir })
try {
  const admin = new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const configEntries = [{ name: 'max.message.bytes', value: '4000000' }]
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: PARTITIONS, configEntries }] })
  await admin.disconnect()
  const transport = createKafkaTransport({ clientId: 'bench', brokers: [...kafka.brokers] })
  const cluster = createCluster(transport, systemClock, systemRandom)
  const config = { transactionalId: 'bench', group: 'bench', transactionTimeoutMs: 60_000 }
  const session = await openSession(cluster, config, systemRandom, within(30_000))
  await session.readCommitted([{ topic, partition: 0 }], within(30_000))
  const results: Record<string, unknown> = { kafka: version, protocol: session.protocol, gapMs, node: process.version }
  let offset = 0
  for (const records of [100, 10_000]) {
    const outputs = outputsOf(records)
    const count = records === 100 ? Number(options.windows) : Math.ceil(Number(options.windows) / 3)
    for (let index = 0; index < count / 5; index++) await oneWindow(session, outputs, ++offset)
    const timings: Timing[] = []
    for (let index = 0; index < count; index++) {
      if (gapMs > 0) await systemClock.sleep(gapMs)
      timings.push(await oneWindow(session, outputs, ++offset))
    }
    results[`records${records}`] = { windows: count, ...summary(timings) }
  }
  await cluster.close()
  console.log(options.json ? JSON.stringify(results) : results)
} finally {
  await kafka.stop()
  await rm(dataDir, { recursive: true, force: true })
}
