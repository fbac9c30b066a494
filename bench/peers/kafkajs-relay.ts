/**
 * The same job, written by hand with kafkajs's public API as its documentation says: consumer.run with eachBatch, one
 * transaction a batch, records and offsets in it (Transactions: "Sending Offsets"; Consuming: "eachBatch" and
 * "Partition-aware concurrency"). One producer a partition, its transactional id named after it ("Choosing a
 * transactionalId"), so that partitions go on side by side. Sends of 1,000 records: its encoder slows down on larger ones.
 */
import { CompressionTypes, type EachBatchPayload, Kafka, logLevel, type Message, type Producer } from 'kafkajs'
import { resourcesNow, resourcesSince } from '../resources.ts'
import { serve } from '../subject.ts'

export type KafkajsQuestion =
  | { readonly do: 'drain'; readonly records: number }
  /** One window: records in base64, ascending from `firstOffset`. */
  | {
      readonly do: 'window'
      readonly partition: number
      readonly firstOffset: number
      readonly values: readonly string[]
    }

export type { DrainAnswer } from '../ours/relay-subject.ts'

const recordsPerSend = 1_000

const { BENCH_SOURCE = '', BENCH_OUTPUT = '', BENCH_PREFIX = '', FENCEPOST_BROKERS = '' } = process.env
const kafka = new Kafka({ clientId: 'peer', brokers: FENCEPOST_BROKERS.split(','), logLevel: logLevel.ERROR })
const producers = new Map<number, Promise<Producer>>()

serve((question: KafkajsQuestion) => (question.do === 'drain' ? drain(question.records) : oneWindow(question)))

function producerOf(partition: number): Promise<Producer> {
  const known = producers.get(partition)
  if (known) return known
  const connected = connect(`${BENCH_PREFIX}-${BENCH_SOURCE}-${partition}`)
  producers.set(partition, connected)
  return connected
}

async function connect(transactionalId: string): Promise<Producer> {
  const producer = kafka.producer({ transactionalId, maxInFlightRequests: 1, idempotent: true })
  await producer.connect()
  return producer
}

/** The clock starts with the first batch: joining a group is no part of the work. */
async function drain(records: number) {
  const consumer = kafka.consumer({ groupId: BENCH_PREFIX })
  await consumer.connect()
  await consumer.subscribe({ topic: BENCH_SOURCE, fromBeginning: true })
  const { partitions } = await topicOf(BENCH_SOURCE)
  await Promise.all(partitions.map(producerOf))
  const windowsMs: number[] = []
  const finished = Promise.withResolvers<void>()
  let began: { readonly atMs: number; readonly cpuSeconds: number } | null = null
  let done = 0
  await consumer.run({
    autoCommit: false,
    partitionsConsumedConcurrently: partitions.length,
    async eachBatch(payload) {
      began ??= { atMs: performance.now(), cpuSeconds: resourcesNow() }
      const windowBeganMs = performance.now()
      await relayBatch(payload).catch(finished.reject)
      windowsMs.push(performance.now() - windowBeganMs)
      done += payload.batch.messages.length
      if (done >= records) finished.resolve()
    },
  })
  await finished.promise
  const { atMs, cpuSeconds } = began ?? { atMs: Number.NaN, cpuSeconds: Number.NaN }
  const answer = { seconds: (performance.now() - atMs) / 1000, windowsMs, ...resourcesSince(cpuSeconds) }
  await consumer.disconnect()
  return answer
}

async function relayBatch({ batch, heartbeat }: EachBatchPayload): Promise<void> {
  const { partition, messages } = batch
  const next = String(BigInt(batch.lastOffset()) + 1n)
  await relay(partition, messages, next, heartbeat)
}

async function relay(
  partition: number,
  messages: readonly Message[],
  next: string,
  heartbeat: () => Promise<void>,
): Promise<void> {
  const transaction = await (await producerOf(partition)).transaction()
  try {
    for (let from = 0; from < messages.length; from += recordsPerSend) {
      const slice = messages.slice(from, from + recordsPerSend)
      await transaction.send({
        topic: BENCH_OUTPUT,
        compression: CompressionTypes.None,
        messages: slice.map(({ key, value }) => ({ key: key ?? null, value, partition })),
      })
      await heartbeat()
    }
    await transaction.sendOffsets({
      consumerGroupId: BENCH_PREFIX,
      topics: [{ topic: BENCH_SOURCE, partitions: [{ partition, offset: next }] }],
    })
    await transaction.commit()
  } catch (error) {
    await transaction.abort()
    throw error
  }
}

/** Its records are in hand already: nothing is looked up, nothing is fetched, no fence is taken. */
async function oneWindow(question: Extract<KafkajsQuestion, { do: 'window' }>): Promise<{ toCommitMs: number }> {
  const { partition, firstOffset, values } = question
  const messages = values.map((value) => ({ key: null, value: Buffer.from(value, 'base64') }))
  const next = String(firstOffset + values.length)
  const beganMs = performance.now()
  await relay(partition, messages, next, async () => undefined)
  return { toCommitMs: performance.now() - beganMs }
}

async function topicOf(topic: string): Promise<{ readonly partitions: readonly number[] }> {
  const admin = kafka.admin()
  await admin.connect()
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  await admin.disconnect()
  return { partitions: topics[0]?.partitions.map(({ partitionId }) => partitionId) ?? [] }
}
