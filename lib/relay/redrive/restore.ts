import type { Deadline } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { readPartitions } from '../../kafka/fetch.ts'
import type { KafkaRecord, OutputRecord } from '../../kafka/record.ts'
import type { DeadLetter } from '../transform/dead-letter.ts'

const readBytesMax = 1 << 20

/** Key, value and headers as the source had them; null when the letter was cut and the source has not the record any more. */
export async function restoreOriginal(
  cluster: Cluster,
  letter: DeadLetter,
  record: KafkaRecord,
  deadline: Deadline,
): Promise<Omit<OutputRecord, 'timestampMs'> | null> {
  if (!letter.isCut) return { key: record.key, value: record.value, headers: letter.headers }
  const original = await readFromSource(cluster, letter, deadline)
  return original && isOriginalOf(original, letter, record) ? original : null
}

async function readFromSource(cluster: Cluster, letter: DeadLetter, deadline: Deadline): Promise<KafkaRecord | null> {
  const { topic, partition, offset } = letter
  const source = (await cluster.topics([topic], deadline)).get(topic)
  if (!source || partition >= source.partitions.length) return null
  const place = { topic, topicId: source.topicId, partition }
  const ask = { ...place, from: offset, until: offset + 1n, maxBytes: readBytesMax, maxRecords: 1 }
  const [read] = await readPartitions(cluster, [ask], { maxBytes: readBytesMax, maxWaitMs: 0 }, deadline)
  if (read?.error && !isGone(read.error.code)) throw read.error
  return read?.records.find((record) => record.offset === offset) ?? null
}

const isGone = (code: string): boolean => code === 'OFFSET_OUT_OF_RANGE' || code === 'SOURCE_REPLACED'

/** The topic may have been made anew: then another record stands at this offset. */
function isOriginalOf(original: KafkaRecord, { timestampMs }: DeadLetter, cut: KafkaRecord): boolean {
  return original.timestampMs === timestampMs && begins(original.key, cut.key) && begins(original.value, cut.value)
}

const begins = (whole: Buffer | null, part: Buffer | null): boolean =>
  whole === null || part === null ? whole === part : whole.subarray(0, part.length).equals(part)
