import type { AnyCodec, BytesCodec, EncodableBy } from '../../codecs/codec.ts'
import type { Header } from '../../kafka/record.ts'
import type { RecordPlace } from './relay-record.ts'
import type { Topic } from './topic.ts'

/** The outputs of a relay by the names under which `emit` knows them. */
export type Outputs = Readonly<Record<string, Topic>>

/** `emit.late(value)`: one function for each output. Output order is the order of the calls. */
export type Emit<O extends Outputs> = {
  readonly [Name in keyof O]: (value: ValueOf<O[Name]>, options?: EmitOptions<KeyOf<O[Name]>>) => void
}

/** As `Emit`, for `transformWindow`: each output names the record that it comes `from`. */
export type WindowEmit<O extends Outputs> = {
  readonly [Name in keyof O]: (value: ValueOf<O[Name]>, options: WindowEmitOptions<KeyOf<O[Name]>>) => void
}

export interface EmitOptions<Key = unknown> {
  /** Default: the source record's key, byte for byte. `null` writes a record without a key. */
  readonly key?: Key
  /** Milliseconds since the epoch. Default: the source record's. */
  readonly timestamp?: number
  /**
   * Default: the source record's headers, as Kafka Streams forwards them. `{}` writes none; to add one, give the list
   * `[...record.headers, { key: 'seen-by', value: Buffer.from('relay') }]`.
   */
  readonly headers?: HeadersToEmit
  /** Default: by murmur2 of the key, as the Java client does; without a key, by the source record's partition. */
  readonly partition?: number
}

export interface WindowEmitOptions<Key = unknown> extends EmitOptions<Key> {
  /** The record of this window that the output comes from: gives the defaults, and is rejected if the output cannot be written. */
  readonly from: RecordPlace
}

export type HeadersToEmit = Readonly<Record<string, string | Uint8Array | null>> | readonly Header[]

type ValueOf<T> = T extends Topic<infer Value extends AnyCodec, AnyCodec> ? EncodableBy<Value> : never
type KeyOf<T> = T extends Topic<AnyCodec, infer Key extends AnyCodec> ? EncodableBy<Key> | TextKey<Key> | null : never
type TextKey<Key> = Key extends BytesCodec ? string : never
