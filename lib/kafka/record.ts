/** A header of a record. Headers are an ordered list: names may repeat, values may be null. */
export interface Header {
  readonly key: string
  readonly value: Buffer | null
}

/**
 * One record as it stands in the log. `key` and `value` may be views into a larger fetched buffer: copy what outlives
 * the window. A null value is a tombstone; an empty one is not. A record is a view itself: take its fields one by one,
 * a spread (`...record`) has none of them.
 */
export interface KafkaRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: bigint
  /** Milliseconds since the epoch; -1 when the producer set none. */
  readonly timestampMs: number
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
}

/** A record on its way to an output partition. */
export interface OutputRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: readonly Header[]
  /** Milliseconds since the epoch. */
  readonly timestampMs: number
}

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** One record and the output partition that it goes to. */
export interface Output extends TopicPartition {
  readonly record: OutputRecord
}

/** `topic-partition`, for maps and messages only: never split it, topic names contain dashes. */
export const tpKey = (tp: TopicPartition): string => `${tp.topic}-${tp.partition}`
