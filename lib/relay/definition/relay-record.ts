import type { Header } from '../../kafka/record.ts'

/** Which record: its place in the log. */
export interface RecordPlace {
  readonly topic: string
  readonly partition: number
  readonly offset: bigint
  /** `topic/partition/offset`: the same whenever the record is tried again, so it serves as an idempotency key. */
  readonly id: string
}

/** One record of the source as a transform sees it. */
export interface RelayRecord<Value = unknown, Key = Buffer | null> extends RecordPlace {
  /** Milliseconds since the epoch; -1 when the producer set none. */
  readonly timestamp: number
  /** Decoded by the source topic's key codec; bytes unless it has one. A null key stays null. */
  readonly key: Key
  /** Decoded, and checked where the codec checks, before the transform is called. */
  readonly value: Value
  /** In order as written; names may repeat, values may be null. */
  readonly headers: readonly Header[]
  /** The bytes as they stand in the log. Copy what you keep longer than this call. */
  readonly raw: RawRecord<null extends Value ? Buffer | null : Buffer>
}

export interface RawRecord<Value extends Buffer | null = Buffer | null> {
  readonly key: Buffer | null
  readonly value: Value
  readonly headers: readonly Header[]
}
