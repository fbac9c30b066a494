import proto from 'protobufjs'
import type { Codec } from '../codec.ts'
import { type MessageIndexes, readIndexes, writeIndexes } from './message-indexes.ts'
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
 * default: messages and `optional` fields null. Sources may hold any message of their schema: records say which.
 */
export function protobuf<Value>(options: ProtobufOptions = {}): Codec<Value> {
  const compile = (schema: SchemaText, referenced: readonly NamedSchema[]): CompiledSchema =>
    compiled(fileOf(schema, referenced), options.message)
  return registryCodec<Value>('protobuf', { type: 'PROTOBUF', compile }, options)
}

/** The messages of one .proto file, in its order. */
interface ProtoFile {
  readonly root: proto.Root
  readonly scope: proto.NamespaceBase
}

/** The file itself comes first, so that messages of its imports stand behind its own. */
function fileOf({ text }: SchemaText, referenced: readonly NamedSchema[]): ProtoFile {
  const root = new proto.Root()
  const { package: name, imports = [] } = proto.parse(text, root)
  for (const each of referenced) proto.parse(each.text, root)
  const wellKnown = [text, ...referenced.map((each) => each.text)].flatMap((each) => proto.parse(each).imports ?? [])
  for (const file of new Set([...imports, ...wellKnown])) {
    const common = proto.common.get(file)
    if (common?.nested) root.addJSON(common.nested)
  }
  root.resolveAll()
  const scope = name ? root.lookup(name) : root
  if (!(scope instanceof proto.Namespace)) throw new TypeError(`it has no package ${name}`)
  return { root, scope }
}

function compiled({ root, scope }: ProtoFile, written: string | undefined): CompiledSchema {
  const toWrite = written === undefined ? messageAt(scope, [0]) : root.lookupType(written)
  const head = writeIndexes(indexesOf(scope, toWrite))
  return {
    decode(payload) {
      const { indexes, message } = readIndexes(payload)
      const type = messageAt(scope, indexes)
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

const messagesIn = (scope: proto.NamespaceBase): proto.Type[] =>
  scope.nestedArray.filter((one): one is proto.Type => one instanceof proto.Type)

function messageAt(scope: proto.NamespaceBase, indexes: MessageIndexes): proto.Type {
  let found: proto.Type | undefined
  for (const index of indexes) found = messagesIn(found ?? scope)[index]
  if (found === undefined) throw new TypeError(`the schema has no message at [${indexes.join(', ')}]`)
  return found
}

function indexesOf(scope: proto.NamespaceBase, message: proto.Type): MessageIndexes {
  const indexes: number[] = []
  for (let at: proto.NamespaceBase | null = message; at && at !== scope; at = at.parent as proto.NamespaceBase | null)
    indexes.unshift(at.parent ? messagesIn(at.parent as proto.NamespaceBase).indexOf(at as proto.Type) : 0)
  return indexes
}
