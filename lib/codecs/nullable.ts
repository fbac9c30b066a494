import type { Codec, NullableCodec, OpenedCodec } from './codec.ts'

/**
 * Lets tombstones (null values) through a codec. Without it a record with a null value is rejected, because the type of
 * the value says that there is one.
 *
 * ```ts
 * source: topic('accounts', nullable(json(Account))),      // record.value: Account | null
 * outputs: { latest: topic('accounts.latest', nullable(json<Account>())) },
 * transform: (record, { emit }) => emit.latest(record.value),   // a null is written as a tombstone
 * ```
 */
export function nullable<Decoded, Encodable>(codec: Codec<Decoded, Encodable>): NullableCodec<Decoded, Encodable> {
  const { open } = codec
  return { ...nullableOf(codec), ...(open && { open: (place) => openNullable(open(place)) }) }
}

const openNullable = <Decoded, Encodable>(opened: OpenedCodec<Decoded, Encodable>) => ({
  ...nullableOf(opened),
  prepare: (values: readonly Buffer[], signal: AbortSignal) => opened.prepare(values, signal),
})

const nullableOf = <Decoded, Encodable>(codec: Codec<Decoded, Encodable>): NullableCodec<Decoded, Encodable> => ({
  name: `nullable ${codec.name}`,
  nullable: true,
  decode: (bytes) => codec.decode(bytes),
  encode: (value) => codec.encode(value),
})
