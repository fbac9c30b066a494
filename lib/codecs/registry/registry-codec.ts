import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import type { Codec, CodecPlace, OpenedCodec } from '../codec.ts'
import type { RegisteredSchema, SchemaReference, SchemaRegistry, SchemaText, SchemaType } from './schema-registry.ts'
import { frame, schemaIdOf, unframe } from './wire-format.ts'

/** Which schemas a codec works with. All have defaults: values are read by the schema that they name. */
export interface RegistryCodecOptions {
  /** Default: the deployment's, FENCEPOST_REGISTRY_URL. */
  readonly registry?: SchemaRegistry
  /** What outputs are written with. Default: the latest of the subject, looked up once per container. */
  readonly schema?: string | object
  /** That `schema` refers to. */
  readonly references?: readonly SchemaReference[]
  /** Registers `schema` where the subject lacks it. Default false: an output whose schema is not registered is a mistake. */
  readonly register?: boolean
  /** Default: `<topic>-value` and `<topic>-key`, Confluent's TopicNameStrategy. */
  readonly subject?: string | ((place: Pick<CodecPlace, 'topic' | 'part'>) => string)
  /**
   * A value that names a schema which the registry does not know: `retry` (default) tries the window again until it
   * does; `reject` rejects the record.
   */
  readonly unknownSchema?: 'retry' | 'reject'
}

/** One schema, ready for work. Both throw what rejects a record, and quote nothing of its contents. */
export interface CompiledSchema {
  decode(payload: Buffer): unknown
  encode(value: unknown): Uint8Array
}

/** How schemas of one type are compiled. */
export interface SchemaFormat {
  readonly type: SchemaType
  /** `referenced`: everything that it refers to, the deepest first. */
  compile(schema: SchemaText, referenced: readonly NamedSchema[]): CompiledSchema
}

export interface NamedSchema {
  readonly name: string
  readonly text: string
}

/** A codec in Confluent's wire format. Schemas are fetched before the window that needs them, each once per container. */
export function registryCodec<Value>(name: string, format: SchemaFormat, options: RegistryCodecOptions): Codec<Value> {
  const compiled = new WeakMap<SchemaRegistry, SchemaCache>()
  const notOpen = (): never => {
    throw new TypeError(`${name} works inside a relay only, where its schemas are fetched first`)
  }
  return {
    name,
    decode: notOpen,
    encode: notOpen,
    open(place) {
      const registry = options.registry ?? place.registry
      if (registry === null) throw withoutRegistry(name, place)
      const cache = compiled.get(registry) ?? new SchemaCache(registry, format)
      compiled.set(registry, cache)
      return new OpenRegistryCodec<Value>(name, cache, place, options)
    },
  }
}

const withoutRegistry = (name: string, { topic, part }: CodecPlace): RelayError =>
  new RelayError(
    'CONFIG_INVALID',
    `the ${part} of topic '${topic}' is ${name}, and there is no registry: set FENCEPOST_REGISTRY_URL, or give ${name} one`,
  )

/** Schemas of one registry, compiled; what an id stands for never changes. */
class SchemaCache {
  readonly registry: SchemaRegistry
  readonly format: SchemaFormat
  readonly #compiled = new Map<number, CompiledSchema>()

  constructor(registry: SchemaRegistry, format: SchemaFormat) {
    this.registry = registry
    this.format = format
  }

  get(id: number): CompiledSchema | undefined {
    return this.#compiled.get(id)
  }

  async fetch(id: number, signal: AbortSignal): Promise<void> {
    if (!this.#compiled.has(id)) await this.add(id, await this.registry.byId(id, signal), signal)
  }

  /** A schema of another type, or one that cannot be used, rejects the records that name it. */
  async add(id: number, schema: SchemaText, signal: AbortSignal): Promise<void> {
    const { type } = this.format
    if (schema.type !== type) this.#compiled.set(id, unusable(`schema ${id} is ${schema.type}, not ${type}`))
    else this.#compiled.set(id, await this.#compile(id, schema, signal))
  }

  async #compile(id: number, schema: SchemaText, signal: AbortSignal): Promise<CompiledSchema> {
    const referenced = await this.referenced(schema.references, signal)
    try {
      return this.format.compile(schema, referenced)
    } catch (error) {
      return unusable(`schema ${id} cannot be used: ${messageOf(error)}`)
    }
  }

  async referenced(
    references: readonly SchemaReference[],
    signal: AbortSignal,
    found = new Map<string, NamedSchema>(),
  ): Promise<readonly NamedSchema[]> {
    for (const { name, subject, version } of references) {
      if (found.has(name)) continue
      const { text, references: deeper } = await this.registry.bySubject(subject, version, signal)
      await this.referenced(deeper, signal, found)
      found.set(name, { name, text })
    }
    return [...found.values()]
  }
}

function unusable(why: string): CompiledSchema {
  const refuse = (): never => {
    throw new TypeError(why)
  }
  return { decode: refuse, encode: refuse }
}

interface Writer {
  readonly id: number
  readonly schema: CompiledSchema
}

class OpenRegistryCodec<Value> implements OpenedCodec<Value> {
  readonly name: string
  readonly #cache: SchemaCache
  readonly #place: CodecPlace
  readonly #options: RegistryCodecOptions
  #writer: Writer | null = null

  constructor(name: string, cache: SchemaCache, place: CodecPlace, options: RegistryCodecOptions) {
    this.name = name
    this.#cache = cache
    this.#place = place
    this.#options = options
  }

  prepare(values: readonly Buffer[], signal: AbortSignal): Promise<void> | undefined {
    const isWriterMissing = this.#place.use !== 'decode' && this.#writer === null
    const ids = this.#place.use === 'encode' ? [] : this.#unknownIds(values)
    if (!isWriterMissing && ids.length === 0) return undefined
    return this.#fetch(ids, isWriterMissing, signal)
  }

  decode(value: Buffer): Value {
    const { id, payload } = unframe(value)
    const schema = this.#cache.get(id)
    if (schema === undefined) throw new TypeError(`the registry does not know schema ${id}`)
    return schema.decode(payload) as Value
  }

  encode(value: Value): Buffer {
    if (this.#writer === null) throw new TypeError(`${this.name} was not prepared to encode`)
    const { id, schema } = this.#writer
    return frame(id, schema.encode(value))
  }

  #unknownIds(values: readonly Buffer[]): readonly number[] {
    const ids = new Set<number>()
    let last: number | null = null
    for (const value of values) {
      const id = schemaIdOf(value)
      if (id === null || id === last) continue // most records of a topic have the schema of the one before
      last = id
      if (this.#cache.get(id) === undefined) ids.add(id)
    }
    return [...ids]
  }

  async #fetch(ids: readonly number[], isWriterMissing: boolean, signal: AbortSignal): Promise<void> {
    for (const id of ids) await this.#cache.fetch(id, signal).catch((error) => this.#passOverUnknown(error))
    if (isWriterMissing) this.#writer = await this.#findWriter(signal)
  }

  #passOverUnknown(error: unknown): void {
    const isPassedOver =
      isRelayError(error) && error.code === 'SCHEMA_UNKNOWN' && this.#options.unknownSchema === 'reject'
    if (!isPassedOver) throw error
  }

  async #findWriter(signal: AbortSignal): Promise<Writer> {
    const { id, ...schema } = await this.#writerSchema(signal)
    if (this.#cache.get(id) === undefined) await this.#cache.add(id, schema, signal)
    return { id, schema: this.#cache.get(id) ?? unusable(`schema ${id} is missing`) }
  }

  async #writerSchema(signal: AbortSignal): Promise<RegisteredSchema> {
    const { schema, references = [], register = false } = this.#options
    const { registry, format } = this.#cache
    const subject = this.#subject()
    if (schema === undefined) return registry.bySubject(subject, 'latest', signal)
    const text = typeof schema === 'string' ? schema : JSON.stringify(schema)
    const own = { type: format.type, text, references }
    return {
      ...own,
      id: await (register ? registry.register(subject, own, signal) : registry.find(subject, own, signal)),
    }
  }

  #subject(): string {
    const { subject } = this.#options
    const { topic, part } = this.#place
    return typeof subject === 'function' ? subject({ topic, part }) : (subject ?? `${topic}-${part}`)
  }
}
