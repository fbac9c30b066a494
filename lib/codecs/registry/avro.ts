import avsc, { type Type } from 'avsc'
import type { Codec } from '../codec.ts'
import { type CompiledSchema, type NamedSchema, type RegistryCodecOptions, registryCodec } from './registry-codec.ts'
import type { SchemaText } from './schema-registry.ts'

export interface AvroOptions extends RegistryCodecOptions {
  /** What outputs are written with; sources are read as this schema, resolved from the one that each record names. */
  readonly schema?: string | object
  /** How `long` comes. Default `number`, which rejects records whose value is beyond 2^53. */
  readonly longs?: 'number' | 'bigint'
}

/**
 * Avro with the schemas of a registry. Needs the package avsc.
 *
 * ```ts
 * source: topic('orders', avro<Order>()),
 * outputs: { paid: topic('orders.paid', avro<Paid>({ schema: paidSchema })) },
 * ```
 *
 * Bytes and fixed come as Buffer, unions without the name of their branch where that is unambiguous, logical types as
 * the type that they stand on.
 */
export function avro<Value>(options: AvroOptions = {}): Codec<Value> {
  const { schema, longs = 'number' } = options
  const compile = (registered: SchemaText, referenced: readonly NamedSchema[]): CompiledSchema => {
    const writer = typeOf(registered.text, referenced, longs)
    const reader = schema === undefined ? writer : typeOf(textOf(schema), referenced, longs)
    return compiled(writer, reader)
  }
  return registryCodec<Value>('avro', { type: 'AVRO', compile }, options)
}

const textOf = (schema: string | object): string => (typeof schema === 'string' ? schema : JSON.stringify(schema))

function typeOf(text: string, referenced: readonly NamedSchema[], longs: 'number' | 'bigint'): Type {
  const registry: Record<string, Type> = longs === 'bigint' ? { long: bigintLong } : {}
  for (const each of referenced) avsc.Type.forSchema(JSON.parse(each.text), { registry })
  return avsc.Type.forSchema(JSON.parse(text), { registry })
}

function compiled(writer: Type, reader: Type): CompiledSchema {
  const resolver = reader === writer ? undefined : reader.createResolver(writer)
  return {
    decode: (payload) => reader.fromBuffer(Buffer.from(payload), resolver), // a copy: bytes in the value are views of it
    encode(value) {
      try {
        return reader.toBuffer(value)
      } catch (error) {
        throw invalid(reader, value) ?? error
      }
    },
  }
}

/** avsc's own message quotes the value; ours does not, because messages reach logs. */
function invalid(type: Type, value: unknown): TypeError | null {
  const wrong: string[] = []
  const errorHook = (path: readonly string[], _value: unknown, wanted: Type) =>
    void wrong.push(`${path.join('.') || 'the value'} is not ${wanted.name ?? wanted.typeName}`)
  return type.isValid(value, { errorHook }) ? null : new TypeError(wrong.join('; '))
}

const bigintLong: Type = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer(value: bigint) {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value,
  compare: (one: bigint, other: bigint) => (one === other ? 0 : one < other ? -1 : 1),
})
