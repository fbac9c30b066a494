import type { Codec, CodecPlace, OpenedCodec } from '../../lib/codecs/codec.ts'
import type { SchemaRegistry } from '../../lib/codecs/registry/schema-registry.ts'

export const unbounded = (): AbortSignal => new AbortController().signal

/** A codec where it works: as the value of topic `orders`, its schema for outputs fetched. */
export async function opened<Value>(
  codec: Codec<Value>,
  registry: SchemaRegistry,
  place: Partial<CodecPlace> = {},
): Promise<OpenedCodec<Value>> {
  const open = codec.open?.({ topic: 'orders', part: 'value', use: 'both', registry, ...place })
  if (open === undefined) throw new Error(`${codec.name} does not open`)
  await open.prepare([], unbounded())
  return open
}

/** What a codec reads of bytes from elsewhere, whose schema it fetches first. */
export async function decoded<Value>(codec: OpenedCodec<Value>, bytes: Uint8Array): Promise<Value> {
  await codec.prepare([Buffer.from(bytes)], unbounded())
  return codec.decode(Buffer.from(bytes))
}
