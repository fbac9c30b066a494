/**
 * The same job, written by hand with kafkajs's public API as its documentation says: consumer.run with eachBatch, one
 * transaction a batch with its records and offsets in it ("Sending Offsets"), one producer a source partition with its
 * transactional id named after it ("Choosing a transactionalId"), so that partitions go on side by side ("Partition-aware
 * concurrency"). Keys go where the Java client would put them ("Default Partitioners"). Sends of 1,000 records, because its
 * encoder slows down on larger ones.
 */
import { type Consumer, type Kafka, type Message, Partitioners, type Producer } from 'kafkajs'

export interface KafkajsRelayOptions {
  readonly source: string
  readonly output: string
  /** Group and, with the partition, transactional ids. */
  readonly name: string
}

export interface KafkajsWindow {
  readonly records: number
  readonly beganMs: number
  readonly endedMs: number
}

const recordsPerSend = 1_000

export class KafkajsRelay {
  readonly #kafka: Kafka
  readonly #options: KafkajsRelayOptions
  readonly #producers = new Map<number, Promise<Producer>>()

  constructor(kafka: Kafka, options: KafkajsRelayOptions) {
    this.#kafka = kafka
    this.#options = options
  }

  /** Relays batch after batch, from the first record on. To be disconnected. */
  async run(partitions: number, onBegin: () => void, onWindow: (window: KafkajsWindow) => void): Promise<Consumer> {
    const { source: topic, name: groupId } = this.#options
    const consumer = this.#kafka.consumer({ groupId })
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await Promise.all(Array.from({ length: partitions }, (_, partition) => this.#producer(partition)))
    await consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: partitions,
      eachBatch: async ({ batch, heartbeat }) => {
        const { partition, messages } = batch
        onBegin()
        const beganMs = performance.now()
        await this.relay(partition, messages, String(BigInt(batch.lastOffset()) + 1n), heartbeat)
        onWindow({ records: messages.length, beganMs, endedMs: performance.now() })
      },
    })
    return consumer
  }

  /** One window: all of it or nothing. `next` is the offset to go on from. */
  async relay(partition: number, messages: readonly Message[], next: string, heartbeat: () => Promise<void>) {
    const { source, output, name } = this.#options
    const transaction = await (await this.#producer(partition)).transaction()
    try {
      for (let from = 0; from < messages.length; from += recordsPerSend) {
        const slice = messages.slice(from, from + recordsPerSend)
        await transaction.send({
          topic: output,
          messages: slice.map(({ key, value }) => ({ key: key ?? null, value })),
        })
        await heartbeat()
      }
      const topics = [{ topic: source, partitions: [{ partition, offset: next }] }]
      await transaction.sendOffsets({ consumerGroupId: name, topics })
      await transaction.commit()
    } catch (error) {
      await transaction.abort()
      throw error
    }
  }

  #producer(partition: number): Promise<Producer> {
    const known = this.#producers.get(partition) ?? this.#connect(partition)
    this.#producers.set(partition, known)
    return known
  }

  async #connect(partition: number): Promise<Producer> {
    const { name, source } = this.#options
    const producer = this.#kafka.producer({
      transactionalId: `${name}-${source}-${partition}`,
      maxInFlightRequests: 1,
      idempotent: true,
      createPartitioner: Partitioners.DefaultPartitioner,
    })
    await producer.connect()
    return producer
  }
}
