import type { Codec, NullableCodec } from './codec.ts'

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
  return {
    name: `nullable ${codec.name}`,
    nullable: true,
    decode: (bytes) => codec.decode(bytes),
    encode: (value) => codec.encode(value),
  }
}
