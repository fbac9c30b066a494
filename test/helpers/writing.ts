import type { Cluster } from '../../lib/kafka/cluster.ts'
import { kafkaErrorName } from '../../lib/kafka/errors.ts'
import type { OutputRecord, TopicPartition } from '../../lib/kafka/record.ts'
import { BatchBuilder } from '../../lib/kafka/record-batch/encode.ts'
import { plainIdentity, within } from './kafka-client.ts'

/** Appends records as one batch; what is not said of one is plain. */
export async function appendRecords(
  cluster: Cluster,
  place: TopicPartition,
  records: readonly Partial<OutputRecord>[],
): Promise<void> {
  const builder = new BatchBuilder({ maxBytes: 10_000_000 })
  for (const record of records) {
    const added = builder.tryAppend({ key: null, value: null, timestampMs: 1_700_000_000_000, ...record })
    if (!added) throw new Error('the batch is full')
  }
  await appendBatch(cluster, place, builder.build(plainIdentity))
}

export async function appendBatch(cluster: Cluster, place: TopicPartition, records: Buffer): Promise<void> {
  const { topic, partition } = place
  const body = {
    transactionalId: null,
    acks: -1,
    timeoutMs: 10_000,
    topicData: [{ name: topic, partitionData: [{ index: partition, records }] }],
  }
  const answer = await cluster.request({ to: 'leader', topic, partition }, 'Produce', body, within(15_000), {
    maxVersion: 12,
  })
  const code = answer.body.responses[0]?.partitionResponses[0]?.errorCode ?? -1
  if (code !== 0) throw new Error(`Produce to ${topic}-${partition} was answered ${kafkaErrorName(code)}`)
}
