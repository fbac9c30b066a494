import type { AnyCodec, DecodedBy } from '../codecs/codec.ts'
import type { Header, KafkaRecord } from '../kafka/record.ts'
import { readBatches } from '../kafka/record-batch/decode.ts'
import { readRange } from '../kafka/record-batch/read-range.ts'
import type { Topic } from '../relay/definition/topic.ts'
import { deadLetterHeaders } from '../relay/transform/dead-letter.ts'
import type { ClusterModel } from './broker-model/cluster-model.ts'
import type { PartitionLog } from './broker-model/log.ts'

/** What readers of an output see: committed records, partition by partition, in the order of the log. */
export interface OutputView<T extends Topic = Topic> {
  values(): readonly DecodedBy<T['value']>[]
  records(): readonly OutputRecordView<T>[]
}

export interface OutputRecordView<T extends Topic = Topic> {
  readonly key: DecodedBy<T['key']> | null
  /** null: a tombstone. */
  readonly value: DecodedBy<T['value']> | null
  readonly headers: readonly Header[]
  readonly timestamp: number
  readonly partition: number
  readonly offset: bigint
}

export interface DeadLetter {
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** The original ones and those that say why and where from. */
  readonly headers: readonly Header[]
  readonly error: { readonly code: string; readonly message: string }
  readonly source: { readonly topic: string; readonly partition: number; readonly offset: bigint }
}

export interface DeadLetterView {
  /** The original values, as bytes. */
  values(): readonly (Buffer | null)[]
  records(): readonly DeadLetter[]
}

export function outputView<T extends Topic>(model: ClusterModel, topic: T): OutputView<T> {
  const records = () => committedRecords(model, topic.name).map((record) => decoded(topic, record))
  return {
    records,
    // a tombstone is a value of outputs whose codec has null, and such outputs only
    values: () => records().map(({ value }) => value as DecodedBy<T['value']>),
  }
}

export function deadLetterView(model: ClusterModel, topic: string | null): DeadLetterView {
  const records = () => (topic === null ? [] : committedRecords(model, topic).map(deadLetter))
  return { records, values: () => records().map(({ value }) => value) }
}

/** What a read_committed reader finds in the topic, by the same code by which relays read. */
export function committedRecords(model: ClusterModel, topic: string): readonly KafkaRecord[] {
  return (model.topics.find(topic)?.partitions ?? []).flatMap(({ log }) => committedIn(log))
}

function committedIn(log: PartitionLog): readonly KafkaRecord[] {
  const records: KafkaRecord[] = []
  const until = log.lastStableOffset
  for (let from = log.startOffset; from < until; ) {
    const { bytes, aborted } = log.read(from, 'read_committed', Number.POSITIVE_INFINITY, true)
    const range = readRange(readBatches(bytes, log.source), { from, until }, aborted ?? [])
    records.push(...range.records)
    from = range.until > from ? range.until : until
  }
  return records
}

function decoded<T extends Topic>(topic: T, record: KafkaRecord): OutputRecordView<T> {
  const { headers, timestampMs: timestamp, partition, offset } = record
  const key = decode<DecodedBy<T['key']>>(topic.key, record.key)
  const value = decode<DecodedBy<T['value']>>(topic.value, record.value)
  return { key, value, headers, timestamp, partition, offset }
}

/** The codec's type is the caller's, who has it from the topic. */
const decode = <T>(codec: AnyCodec, bytes: Buffer | null): T | null =>
  bytes === null ? null : (codec.decode(bytes) as T)

function deadLetter({ key, value, headers }: KafkaRecord): DeadLetter {
  const text = (name: string): string => String(headers.findLast((header) => header.key === name)?.value ?? '')
  return {
    key,
    value,
    headers,
    error: { code: text(deadLetterHeaders.errorCode), message: text(deadLetterHeaders.errorMessage) },
    source: {
      topic: text(deadLetterHeaders.topic),
      partition: Number(text(deadLetterHeaders.partition)),
      offset: BigInt(text(deadLetterHeaders.offset)),
    },
  }
}
