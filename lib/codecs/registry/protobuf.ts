import proto from 'protobufjs'
import type { Codec } from '../codec.ts'
import { type MessageIndexes, readIndexes, writeIndexes } from './message-indexes.ts'
import { messagesIn, type ProtoFile, protoFile } from './proto-file.ts'
import { messageProblem } from './protobuf-value.ts'
import { type CompiledSchema, type NamedSchema, type RegistryCodecOptions, registryCodec } from './registry-codec.ts'
import type { SchemaText } from './schema-registry.ts'

export interface ProtobufOptions extends Omit<RegistryCodecOptions, 'schema'> {
  /** Text of a .proto file. */
  readonly schema?: string
  /** Full name of the message that outputs are, `shop.Order`. Default: the first of the file. */
  readonly message?: string
}

/**
 * Protobuf with the schemas of a registry. Needs the package protobufjs.
 *
 * Fields have camelCase names; 64-bit integers come as bigint, enums by name, bytes as Buffer. What is not set has its
 * default: messages null; `optional` fields and members of a oneof are left out. Sources may hold any message of their schema: records say which.
 */
export function protobuf<Value>(options: ProtobufOptions = {}): Codec<Value> {
  const compile = (schema: SchemaText, referenced: readonly NamedSchema[]): CompiledSchema =>
    compiled(
      protoFile(
        schema.text,
        referenced.map(({ text }) => text),
      ),
      options.message,
    )
  return registryCodec<Value>('protobuf', { type: 'PROTOBUF', compile }, options)
}

function compiled({ root, messages }: ProtoFile, written: string | undefined): CompiledSchema {
  const toWrite = written === undefined ? messageAt(messages, [0]) : root.lookupType(written)
  const head = writeIndexes(indexesOf(messages, toWrite))
  return {
    decode(payload) {
      const { indexes, message } = readIndexes(payload)
      const type = messageAt(messages, indexes)
      return type.toObject(type.decode(Buffer.from(message)), objectOptions) // a copy: bytes in the value are views of it
    },
    encode(value) {
      const problem = messageProblem(toWrite, value)
      if (problem !== null) throw new TypeError(problem)
      return Buffer.concat([head, toWrite.encode(toWrite.fromObject(value as Record<string, unknown>)).finish()])
    },
  }
}

const objectOptions: proto.IConversionOptions = {
  longs: BigInt,
  enums: String,
  defaults: true,
  arrays: true,
  objects: true,
}

function messageAt(messages: readonly proto.Type[], indexes: MessageIndexes): proto.Type {
  let found: proto.Type | undefined
  for (const index of indexes) found = (found ? messagesIn(found) : messages)[index]
  if (found === undefined) throw new TypeError(`the schema has no message at [${indexes.join(', ')}]`)
  return found
}

function indexesOf(messages: readonly proto.Type[], message: proto.Type): MessageIndexes {
  const { parent } = message
  if (parent instanceof proto.Type) return [...indexesOf(messages, parent), messagesIn(parent).indexOf(message)]
  const index = messages.indexOf(message)
  if (index < 0) throw new TypeError(`${message.fullName} is a message of an imported file`)
  return [index]
}
