import proto from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor.js'

/** The messages of one .proto file. */
export interface ProtoFile {
  /** With everything that it imports. */
  readonly root: proto.Root
  /** Of the file itself, in its order. */
  readonly messages: readonly proto.Type[]
}

/** What a registry holds: the text of a .proto file, or its descriptor in base64, as some clients register it. */
export function protoFile(schema: string, referenced: readonly string[]): ProtoFile {
  const root = new proto.Root()
  const own = addFile(root, schema)
  const messages = messagesIn(own.scope) // before those of imports, which may be of the same package
  const imports = [own, ...referenced.map((each) => addFile(root, each))].flatMap((file) => file.imports)
  for (const file of new Set(imports)) {
    const wellKnown = proto.common.get(file)?.nested
    if (wellKnown) root.addJSON(wellKnown)
  }
  root.resolveAll()
  return { root, messages }
}

export const messagesIn = (scope: proto.NamespaceBase): readonly proto.Type[] =>
  scope.nestedArray.filter((one) => one instanceof proto.Type)

interface AddedFile {
  readonly scope: proto.NamespaceBase
  readonly imports: readonly string[]
}

const addFile = (root: proto.Root, schema: string): AddedFile =>
  /^[A-Za-z0-9+/\s]+=*\s*$/.test(schema) ? addDescriptor(root, schema) : addText(root, schema)

function addText(root: proto.Root, text: string): AddedFile {
  const { package: name, imports = [] } = proto.parse(text, root)
  return { scope: scopeOf(root, name), imports }
}

const { FileDescriptorProto } = descriptor

function addDescriptor(root: proto.Root, base64: string): AddedFile {
  const file = FileDescriptorProto.toObject(FileDescriptorProto.decode(Buffer.from(base64, 'base64')))
  const edition = file.syntax || 'proto2'
  const scope = scopeOf(root, file.package)
  for (const message of file.messageType ?? []) scope.add(proto.Type.fromDescriptor(message, edition))
  for (const one of file.enumType ?? []) scope.add(proto.Enum.fromDescriptor(one, edition))
  return { scope, imports: file.dependency ?? [] }
}

const scopeOf = (root: proto.Root, name: string | null | undefined): proto.NamespaceBase =>
  name ? root.define(name) : root
