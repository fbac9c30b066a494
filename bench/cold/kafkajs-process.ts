/** One transaction by kafkajs's public API in a process of its own: records in hand, no fetch, no fence, no offsets to look up. */
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { keyOf, numberedValue } from '../numbered-records.ts'
import { cpuMs, report } from './report.ts'

export interface KafkajsReport {
  readonly connectMs: number
  /** From the begin of the transaction, its InitProducerId included, to the end of its commit. */
  readonly transactionMs: number
  /** Of the process so far. */
  readonly cpuMs: number
}

const [from = 0, until = 0] = process.argv.slice(2).map(Number)
const { FENCEPOST_BROKERS = '' } = process.env
const kafka = new Kafka({ clientId: 'cold', brokers: FENCEPOST_BROKERS.split(','), logLevel: logLevel.ERROR })
const producer = kafka.producer({
  transactionalId: 'kafkajs-source.kafkajs-0',
  maxInFlightRequests: 1,
  idempotent: true,
  createPartitioner: Partitioners.DefaultPartitioner,
})
const beganMs = performance.now()
await producer.connect()
const connectedMs = performance.now()
const transaction = await producer.transaction()
const messages = Array.from({ length: until - from }, (_, index) => ({
  key: keyOf(from + index),
  value: numberedValue(from + index),
}))
await transaction.send({ topic: 'output.kafkajs', messages })
const topics = [{ topic: 'source.kafkajs', partitions: [{ partition: 0, offset: String(until) }] }]
await transaction.sendOffsets({ consumerGroupId: 'kafkajs', topics })
await transaction.commit()
const transactionMs = performance.now() - connectedMs
report({ connectMs: connectedMs - beganMs, transactionMs, cpuMs: cpuMs() } satisfies KafkajsReport)
