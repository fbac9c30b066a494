import type { Cluster } from '../../lib/kafka/cluster.ts'
import { readPartitions } from '../../lib/kafka/fetch.ts'
import { listOffsets } from '../../lib/kafka/offsets.ts'
import type { KafkaRecord } from '../../lib/kafka/record.ts'
import { within } from './kafka-client.ts'

/**
 * What a read_committed reader sees of a topic up to its end, partition after partition. Waits (bounded) until no
 * transaction is open: a commit is answered before its markers are written.
 */
export async function recordsCommitted(cluster: Cluster, topic: string, partitions: number): Promise<KafkaRecord[]> {
  const deadline = within(20_000)
  const topicId = (await cluster.topics([topic], deadline, 'fresh')).get(topic)?.topicId ?? ''
  const records: KafkaRecord[] = []
  for (let partition = 0; partition < partitions; partition++) {
    const end = await settledEnd(cluster, topic, partition)
    for (let from = 0n; from < end; ) {
      const ask = { topic, topicId, partition, from, until: end, maxBytes: 1 << 24 }
      const [read] = await readPartitions(cluster, [ask], { maxBytes: 1 << 24, maxWaitMs: 100 }, deadline)
      if (!read || read.error) throw read?.error ?? new Error('no answer')
      records.push(...read.records)
      from = read.until
    }
  }
  return records
}

/** Their values as text. */
export async function readCommitted(cluster: Cluster, topic: string, partitions: number): Promise<string[]> {
  const records = await recordsCommitted(cluster, topic, partitions)
  return records.map(({ value }) => value?.toString() ?? 'null')
}

async function settledEnd(cluster: Cluster, topic: string, partition: number): Promise<bigint> {
  for (const deadline = within(20_000); ; await cluster.clock.sleep(20)) {
    const end = async (isolation: 'read_committed' | 'read_uncommitted') => {
      const [answer] = await listOffsets(cluster, [{ topic, partition }], { at: 'latest', isolation }, deadline)
      if (!answer || !('offset' in answer)) throw answer?.error ?? new Error('no answer')
      return answer.offset
    }
    const stable = await end('read_committed')
    if (stable === (await end('read_uncommitted'))) return stable
    if (deadline.remainingMs() < 0) throw new Error(`a transaction stays open in ${topic} partition ${partition}`)
  }
}
