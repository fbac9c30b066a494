import { type Clock, deadlineIn, systemClock, systemRandom } from '../lib/clock.ts'
import { invariant } from '../lib/invariant.ts'
import type { Cluster } from '../lib/kafka/cluster.ts'
import { type FetchAsk, readPartitions } from '../lib/kafka/fetch.ts'
import { createCluster } from '../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../lib/kafka/kafkajs-transport.ts'
import { BatchBuilder } from '../lib/kafka/record-batch/encode.ts'
import { type IdempotentProducer, openIdempotentProducer } from '../lib/transaction/idempotent-producer.ts'
import type { PartitionBatches } from '../lib/transaction/session.ts'

export const valueBytes = 200
/** About 105 KB a batch, as of a producer whose batch.size was raised for throughput. */
const recordsPerBatch = 500
const requestMs = 30_000
const checkMs = 120_000

/** One of a thousand, so that a hundred records in a row go to all partitions of an output. */
export const keyOf = (number: number): Buffer => Buffer.from(`key-${number % 1_000}`)

/** A record's value: its number, and filler up to 200 bytes. */
export function numberedValue(number: number): Buffer {
  const value = Buffer.alloc(valueBytes, 'fencepost ')
  value.writeUInt32BE(number)
  return value
}

/** Writes numbered records, each exactly once and in order. */
export class NumberedRecords {
  readonly #producer: IdempotentProducer
  readonly #clock: Clock

  private constructor(producer: IdempotentProducer, clock: Clock) {
    this.#producer = producer
    this.#clock = clock
  }

  static async open(cluster: Cluster): Promise<NumberedRecords> {
    const deadline = deadlineIn(cluster.clock, requestMs)
    return new NumberedRecords(await openIdempotentProducer(cluster, systemRandom, deadline), cluster.clock)
  }

  /** Appends records `from` to `until` to one partition in one batch, acknowledged. */
  append(topic: string, partition: number, from: number, until: number): Promise<void> {
    return this.#send([{ topic, partition, batches: [batchOf(numbers(from, until))] }])
  }

  /**
   * A record of each round to each of these partitions, of `of` there are: number `round * of + partition`, dated by `dueMs`.
   * All in one request to each leader, acknowledged.
   */
  appendRounds(topic: string, partitions: readonly number[], of: number, rounds: Rounds): Promise<void> {
    const { from, until, dueMs, keyed } = rounds
    return this.#send(
      partitions.map((partition) => {
        const mine = Array.from(numbers(from, until), (round) => round * of + partition)
        return {
          topic,
          partition,
          batches: [batchOf(mine, (number) => dueMs(Math.floor(number / of)), keyed ? keyOf : () => null)],
        }
      }),
    )
  }

  /** Spreads records 0 to `count` evenly over the partitions, numbers ascending in each. */
  async fill(topic: string, partitions: number, count: number): Promise<void> {
    const each = Math.ceil(count / partitions)
    for (let done = 0; done < each; done += recordsPerBatch) {
      const batches = Array.from({ length: partitions }, (_, partition) => {
        const from = partition * each + done
        const until = Math.min(count, (partition + 1) * each, from + recordsPerBatch)
        return { topic, partition, batches: from < until ? [batchOf(numbers(from, until))] : [] }
      })
      await this.#send(batches)
    }
  }

  #send(batches: readonly PartitionBatches[]): Promise<void> {
    return this.#producer.send(batches, deadlineIn(this.#clock, requestMs))
  }
}

/** For a subject that writes its own source, over connections of its own. */
export const openFeed = (brokers: string): Promise<NumberedRecords> =>
  NumberedRecords.open(
    createCluster(createKafkaTransport({ clientId: 'feed', brokers: brokers.split(',') }), systemClock, systemRandom),
  )

/** Rounds `from` to `until`, each due at a moment. */
export interface Rounds {
  readonly from: number
  readonly until: number
  readonly dueMs: (round: number) => number
  /** Keys of many records each, or none. */
  readonly keyed: boolean
}

function* numbers(from: number, until: number): Generator<number> {
  for (let number = from; number < until; number++) yield number
}

function batchOf(
  all: Iterable<number>,
  dateMs: (number: number) => number = Date.now,
  keyFor: (number: number) => Buffer | null = keyOf,
): BatchBuilder {
  const batch = new BatchBuilder({ maxBytes: 1_000_000 })
  for (const number of all) {
    const isTaken = batch.tryAppend({ key: keyFor(number), value: numberedValue(number), timestampMs: dateMs(number) })
    invariant(isTaken, 'the records fit one batch', { number })
  }
  return batch
}

export interface Delivery {
  readonly delivered: number
  readonly lost: number
  readonly duplicated: number
}

/** What a read_committed reader finds of records 0 to `count` in `topic`, read to its end. */
export async function checkDelivery(cluster: Cluster, topic: string, count: number): Promise<Delivery> {
  const seen = new Uint8Array(count)
  let delivered = 0
  for await (const number of committedNumbers(cluster, topic)) {
    delivered++
    seen[number] = (seen[number] ?? 0) + 1
  }
  const lost = seen.filter((times) => times === 0).length
  return { delivered, lost, duplicated: delivered - (count - lost) }
}

/** @throws RelayError INVARIANT_BROKEN: a figure of a run that lost or doubled anything would be worthless. */
export function assertDelivered(what: string, count: number, delivery: Delivery): void {
  invariant(delivery.delivered === count && delivery.lost === 0, `${what} delivers every record once`, { ...delivery })
}

/** A commit is answered before its markers are in the log: what it holds back is waited for. */
async function* committedNumbers(cluster: Cluster, topic: string): AsyncGenerator<number> {
  const deadline = deadlineIn(cluster.clock, checkMs)
  for (let asks = await wholeTopic(cluster, topic); asks.length > 0; ) {
    invariant(deadline.remainingMs() > 0, `readers of ${topic} get to its end`, { asks: asks.length })
    const limits = { maxBytes: 8 << 20, maxWaitMs: 10 }
    const fetched = await readPartitions(cluster, asks, limits, deadlineIn(cluster.clock, requestMs))
    for (const { records, error } of fetched) {
      if (error) throw error
      for (const { value } of records) yield value?.readUInt32BE(0) ?? -1
    }
    const open = fetched.filter(({ until, highWatermark }) => until < highWatermark)
    asks = asks.flatMap((ask) => {
      const next = open.find(({ partition }) => partition === ask.partition)
      return next ? [{ ...ask, from: next.until }] : []
    })
  }
}

async function wholeTopic(cluster: Cluster, topic: string): Promise<FetchAsk[]> {
  const found = (await cluster.topics([topic], deadlineIn(cluster.clock, requestMs), 'fresh')).get(topic)
  const { topicId = '', partitions = [] } = found ?? {}
  return partitions.map(({ partition }) => {
    return { topic, topicId, partition, from: 0n, until: 2n ** 62n, maxBytes: 2 << 20 }
  })
}
