import type { BytesCodec, EncodableBy } from '../codecs/codec.ts'
import { partitionFor } from '../kafka/partitioner.ts'
import type { Header, OutputRecord } from '../kafka/record.ts'
import { BatchBuilder } from '../kafka/record-batch/encode.ts'
import type { HeadersToEmit } from '../relay/definition/emit.ts'
import type { Topic } from '../relay/definition/topic.ts'
import type { ClusterModel } from './broker-model/cluster-model.ts'

interface RecordOptions<Key> {
  /** Default: none. Text is written as UTF-8 where the topic's keys are bytes. */
  readonly key?: Key | null
  readonly headers?: HeadersToEmit
  /** Milliseconds since the epoch. Default: the test's time. */
  readonly timestamp?: number
  /** Default: by the key as Kafka's own clients choose it, 0 without a key. */
  readonly partition?: number
}

type KeyOf<Source extends Topic> = EncodableBy<Source['key']> | (Source['key'] extends BytesCodec ? string : never)

/** A record to pipe in: a value that the source's codec writes, or bytes as they are (malformed ones too). */
export type TestRecord<Source extends Topic> = RecordOptions<KeyOf<Source>> &
  (
    | { readonly value: EncodableBy<Source['value']> | null; readonly bytes?: never }
    | { readonly bytes: Uint8Array | string; readonly value?: never }
  )

export interface Written {
  readonly partition: number
  readonly offset: bigint
}

const batchBytesMax = 1_000_000
const plain = { producerId: -1n, producerEpoch: -1, baseSequence: -1, transactional: false }

/** Appends records to the source as a plain producer does, one batch each, and answers where they stand. */
export function writeToSource<Source extends Topic>(
  model: ClusterModel,
  source: Source,
  records: readonly TestRecord<Source>[],
): readonly Written[] {
  return records.map((record) => {
    const output = encode(source, record, model.clock.now())
    const topic = model.topics.find(source.name)
    const partitionCount = topic?.partitions.length ?? 0
    const partition = record.partition ?? partitionFor({ key: output.key, sourcePartition: 0, partitionCount })
    const found = topic?.partitions[partition]
    if (topic === undefined || found === undefined) {
      throw new Error(
        `'${source.name}' has partitions 0 to ${partitionCount - 1}, not ${partition}: see the option partitions`,
      )
    }
    const builder = new BatchBuilder({ maxBytes: batchBytesMax, topic: source.name })
    builder.tryAppend(output)
    const { leaderEpoch, log } = found
    const { baseOffset } = log.append(builder.build(plain), {
      nowMs: model.clock.now(),
      leaderEpoch,
      segments: model.topics.segmentLimits(topic),
      usesAppendTime: false,
      isUnverified: false,
      startsAtZero: false,
    })
    return { partition, offset: baseOffset }
  })
}

function encode<Source extends Topic>(source: Source, record: TestRecord<Source>, nowMs: number): OutputRecord {
  const { key = null, headers = [], timestamp = nowMs } = record
  return {
    key: bytesOf(source.key, key),
    value: bytesOfValue(source, record),
    headers: headerList(headers),
    timestampMs: timestamp,
  }
}

function bytesOfValue<Source extends Topic>(source: Source, record: TestRecord<Source>): Buffer | null {
  if (record.bytes !== undefined) return Buffer.from(record.bytes)
  return bytesOf(source.value, record.value ?? null)
}

/** `value` has the codec's own type at every call that compiles. */
function bytesOf(codec: Topic['value'], value: unknown): Buffer | null {
  if (value === null) return null
  return codec.name === 'bytes' && typeof value === 'string'
    ? Buffer.from(value)
    : Buffer.from(codec.encode(value as never))
}

function headerList(headers: HeadersToEmit): readonly Header[] {
  const isList = (given: HeadersToEmit): given is readonly Header[] => Array.isArray(given)
  if (isList(headers)) return headers
  return Object.entries(headers).map(([key, value]) => ({ key, value: value === null ? null : Buffer.from(value) }))
}
