import { type Deadline, deadlineIn, systemClock, systemRandom } from '../../lib/clock.ts'
import type { Cluster, Target } from '../../lib/kafka/cluster.ts'
import { classify, type Operation } from '../../lib/kafka/errors.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../lib/kafka/kafkajs-transport.ts'
import type { OutputRecord } from '../../lib/kafka/record.ts'
import { BatchBuilder, type BatchIdentity } from '../../lib/kafka/record-batch/encode.ts'

export const within = (ms: number): Deadline => deadlineIn(systemClock, ms)

export const clusterAt = (brokers: readonly string[]): Cluster =>
  createCluster(createKafkaTransport({ clientId: 'fencepost-test', brokers }), systemClock, systemRandom)

export interface Producer {
  readonly producerId: bigint
  readonly producerEpoch: number
}

/** InitProducerId, asked again while the coordinator gets ready. */
export async function initProducer(cluster: Cluster, transactionalId: string): Promise<Producer> {
  const target: Target = { to: 'transaction-coordinator', key: transactionalId }
  const body = { transactionalId, transactionTimeoutMs: 60_000, producerId: -1n, producerEpoch: -1 }
  return untilSettled(cluster, 'InitProducerId', target, async (deadline) => {
    const { body: answer } = await cluster.request(target, 'InitProducerId', body, deadline)
    return { code: answer.errorCode, value: { producerId: answer.producerId, producerEpoch: answer.producerEpoch } }
  })
}

/** Asks again while the answer says so, for 20 s at most; throws on any other answer but yes. */
export async function untilSettled<T>(
  cluster: Cluster,
  operation: Operation,
  target: Target,
  ask: (deadline: Deadline) => Promise<{ readonly code: number; readonly value: T }>,
): Promise<T> {
  for (const deadline = within(20_000); ; ) {
    const { code, value } = await ask(deadline)
    const { verdict, relocate } = classify(operation, code)
    if (verdict === 'ok') return value
    const isWorthAsking = verdict === 'wait' || verdict === 'resend'
    if (!isWorthAsking || deadline.remainingMs() <= 0) throw new Error(`${operation} answered ${code}: ${verdict}`)
    if (relocate) cluster.forget(target)
    await cluster.clock.sleep(20)
  }
}

/** Of this run: a broker deletes records dated long ago under a test. The same for all, so that equal batches are equal. */
export const recordsAtMs = Date.now()

export function batchOf(values: readonly string[], identity: BatchIdentity): Buffer {
  const builder = new BatchBuilder({ maxBytes: 1_000_000 })
  for (const value of values) {
    const record: OutputRecord = { key: null, value: Buffer.from(value), timestampMs: recordsAtMs }
    if (!builder.tryAppend(record)) throw new Error('the batch is full')
  }
  return builder.build(identity)
}

export const plainIdentity: BatchIdentity = {
  producerId: -1n,
  producerEpoch: -1,
  baseSequence: -1,
  transactional: false,
}
