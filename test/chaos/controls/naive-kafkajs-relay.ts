/**
 * A relay as kafkajs's documentation suggests it ("Transactions: Sending Offsets" beside "Consuming: eachMessage"): each
 * message and its offset in one transaction, aborted on any error, the producer used again. A process of its own.
 */
import { Kafka, logLevel } from 'kafkajs'

const { NAIVE_BROKERS = '', NAIVE_SOURCE = '', NAIVE_OUTPUT = '', NAIVE_GROUP = '', NAIVE_ID = '' } = process.env

const kafka = new Kafka({ clientId: 'naive', brokers: NAIVE_BROKERS.split(','), logLevel: logLevel.WARN })
const producer = kafka.producer({ transactionalId: NAIVE_ID, maxInFlightRequests: 1, idempotent: true })
const consumer = kafka.consumer({ groupId: NAIVE_GROUP })

consumer.on(consumer.events.CRASH, ({ payload }) => {
  if (!payload.restart) process.exit(1) // whoever runs it starts it again
})

await producer.connect()
await consumer.connect()
await consumer.subscribe({ topic: NAIVE_SOURCE, fromBeginning: true })
await consumer.run({
  autoCommit: false,
  eachMessage: async ({ topic, partition, message: { key, value, offset } }) => {
    const transaction = await producer.transaction()
    try {
      await transaction.send({ topic: NAIVE_OUTPUT, messages: [{ key, value }] })
      const next = String(BigInt(offset) + 1n)
      const topics = [{ topic, partitions: [{ partition, offset: next }] }]
      await transaction.sendOffsets({ consumerGroupId: NAIVE_GROUP, topics })
      await transaction.commit()
    } catch (error) {
      await transaction.abort()
      throw error
    }
  },
})
