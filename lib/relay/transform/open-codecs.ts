import type { AnyCodec, CodecPlace, OpenedCodec } from '../../codecs/codec.ts'
import type { SchemaRegistry } from '../../codecs/registry/schema-registry.ts'
import type { KafkaRecord } from '../../kafka/record.ts'
import type { Topic } from '../definition/topic.ts'
import type { TransformPlan } from './plan.ts'

/** Everything that codecs must fetch before a window can be decoded and encoded; undefined: nothing to wait for. */
export type PrepareCodecs = (records: readonly KafkaRecord[], signal: AbortSignal) => Promise<void> | undefined

export interface OpenedPlan extends TransformPlan {
  readonly prepare: PrepareCodecs
}

/** The plan with codecs that know where they work. @throws RelayError CONFIG_INVALID when one has no registry */
export function openCodecs(plan: TransformPlan, registry: SchemaRegistry | null): OpenedPlan {
  const source = openTopic(plan.source, 'decode', registry)
  const outputs = plan.outputs.map(({ name, topic }) => ({ name, topic: openTopic(topic, 'encode', registry) }))
  const topics = [source, ...outputs.map(({ topic }) => topic)]
  const isPlain = topics.every(({ key, value }) => !isOpened(key) && !isOpened(value))
  return { ...plan, source, outputs, prepare: isPlain ? nothing : preparationOf(source, topics) }
}

export function openTopic(topic: Topic, use: CodecPlace['use'], registry: SchemaRegistry | null): Topic {
  const at = (part: CodecPlace['part']): CodecPlace => ({ topic: topic.name, part, use, registry })
  return {
    name: topic.name,
    key: topic.key.open?.(at('key')) ?? topic.key,
    value: topic.value.open?.(at('value')) ?? topic.value,
  }
}

export const isOpened = (codec: AnyCodec): codec is OpenedCodec<unknown, never> => 'prepare' in codec

const nothing: PrepareCodecs = () => undefined

function preparationOf(source: Topic, topics: readonly Topic[]): PrepareCodecs {
  const bytesOf = (codec: AnyCodec, records: readonly KafkaRecord[]): readonly Buffer[] => {
    const part = codec === source.key ? 'key' : codec === source.value ? 'value' : null
    return part === null ? [] : records.map((record) => record[part]).filter((bytes) => bytes !== null)
  }
  const codecs = topics.flatMap(({ key, value }) => [key, value]).filter(isOpened)
  return (records, signal) => {
    const waits = codecs
      .map((codec) => codec.prepare(bytesOf(codec, records), signal))
      .filter((wait) => wait !== undefined)
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined)
  }
}
