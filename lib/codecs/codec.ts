import type { SchemaRegistry } from './registry/schema-registry.ts'

/**
 * How values of one topic become bytes and back. Give your own to `topic(name, codec)`:
 *
 * ```ts
 * const celsius: Codec<number> = {
 *   name: 'celsius',
 *   decode: (bytes) => bytes.readFloatBE(0),
 *   encode: (degrees) => { const bytes = Buffer.alloc(4); bytes.writeFloatBE(degrees); return bytes },
 * }
 * ```
 *
 * Both directions are synchronous and pure: the same bytes give the same value whenever a window is tried again. Whatever
 * they throw rejects the record (DECODE_FAILED, ENCODE_FAILED); throw a `ValidationError` for VALIDATION_FAILED.
 */
export interface Codec<Decoded, Encodable = Decoded> {
  /** Named in error messages. */
  readonly name: string
  /** `bytes` may be a view into a larger buffer that is gone after the window: copy what the value keeps of it. */
  decode(bytes: Buffer): Decoded
  encode(value: Encodable): Uint8Array
  /**
   * For codecs that differ by topic or have to ask somebody first. Called once per container and place, before the first
   * window; what it answers does the work there, and the codec itself none.
   */
  readonly open?: (place: CodecPlace) => OpenedCodec<Decoded, Encodable>
}

/** Where a codec works. */
export interface CodecPlace {
  readonly topic: string
  readonly part: 'key' | 'value'
  /** What it will be asked to do there. */
  readonly use: 'decode' | 'encode' | 'both'
  /** The deployment's; a codec may have one of its own. */
  readonly registry: SchemaRegistry | null
}

export interface OpenedCodec<Decoded, Encodable = Decoded> extends Codec<Decoded, Encodable> {
  /**
   * Called before each window with all bytes of it that there are to decode; undefined when there is nothing to wait for.
   * What it throws fails the window and rejects no record.
   */
  prepare(values: readonly Buffer[], signal: AbortSignal): Promise<void> | undefined
}

/** A codec that lets null through: `nullable(json<Account>())`. A null value is a tombstone; it is never decoded or encoded. */
export interface NullableCodec<Decoded, Encodable = Decoded> extends Codec<Decoded, Encodable> {
  readonly nullable: true
}

/** What `bytes()` makes. Where it is the codec of keys, `emit` takes text as well and writes it as UTF-8. */
export interface BytesCodec extends NullableCodec<Buffer, Uint8Array> {
  readonly name: 'bytes'
}

/** The bytes are well formed, but the value is not one that the schema allows. Becomes VALIDATION_FAILED. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError'
}

/** What transforms get from a codec: its value, or null as well when it is nullable. */
export type DecodedBy<C> =
  C extends NullableCodec<infer D, never> ? D | null : C extends Codec<infer D, never> ? D : never

/** What `emit` takes for a codec: its value, or null as well when it is nullable. */
export type EncodableBy<C> =
  C extends NullableCodec<infer _D, infer E> ? E | null : C extends Codec<infer _D, infer E> ? E : never

/** Any codec, for constraints only. */
export type AnyCodec = Codec<unknown, never>

export const isNullable = (codec: AnyCodec): boolean => 'nullable' in codec && codec.nullable === true
