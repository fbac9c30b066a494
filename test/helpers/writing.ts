import type { Cluster } from '../../lib/kafka/cluster.ts'
import type { OutputRecord, TopicPartition } from '../../lib/kafka/record.ts'
import { BatchBuilder } from '../../lib/kafka/record-batch/encode.ts'
import { plainIdentity, untilSettled } from './kafka-client.ts'

/** Appends records as one batch; what is not said of one is plain, its time is now. */
export async function appendRecords(
  cluster: Cluster,
  place: TopicPartition,
  records: readonly Partial<OutputRecord>[],
): Promise<void> {
  const builder = new BatchBuilder({ maxBytes: 10_000_000 })
  for (const record of records) {
    const added = builder.tryAppend({ key: null, value: null, timestampMs: cluster.clock.now(), ...record })
    if (!added) throw new Error('the batch is full')
  }
  await appendBatch(cluster, place, builder.build(plainIdentity))
}

export async function appendBatch(cluster: Cluster, place: TopicPartition, records: Buffer): Promise<void> {
  const { topic, partition } = place
  const target = { to: 'leader', topic, partition } as const
  const topicData = [{ name: topic, partitionData: [{ index: partition, records }] }]
  const body = { transactionalId: null, acks: -1, timeoutMs: 10_000, topicData }
  await untilSettled(cluster, 'Produce', target, async (deadline) => {
    const answer = await cluster.request(target, 'Produce', body, deadline, { maxVersion: 12 })
    return { code: answer.body.responses[0]?.partitionResponses[0]?.errorCode ?? -1, value: undefined }
  })
}
