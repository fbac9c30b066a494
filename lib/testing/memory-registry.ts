import type {
  RegisteredSchema,
  SchemaReference,
  SchemaRegistry,
  SchemaText,
  SchemaType,
} from '../codecs/registry/schema-registry.ts'
import { RelayError } from '../errors.ts'

/** A schema that a test's registry has from the start, by its subject. */
export interface SubjectSchema {
  readonly type: SchemaType
  readonly schema: string | object
  readonly references?: readonly SchemaReference[]
}

/**
 * A schema registry in memory, for tests of relays: it takes every schema that it is asked for.
 *
 * ```ts
 * const registry = memoryRegistry({ 'orders-value': { type: 'AVRO', schema: orderSchema } })
 * const relay = testRelay(paid, { registry })
 * ```
 */
export function memoryRegistry(subjects: Readonly<Record<string, SubjectSchema>> = {}): SchemaRegistry {
  const registry = new MemoryRegistry()
  for (const [subject, { type, schema, references = [] }] of Object.entries(subjects))
    registry.add(subject, { type, text: typeof schema === 'string' ? schema : JSON.stringify(schema), references })
  return registry
}

class MemoryRegistry implements SchemaRegistry {
  readonly #schemas: SchemaText[] = []
  readonly #subjects = new Map<string, number[]>()

  add(subject: string, schema: SchemaText): number {
    const key = JSON.stringify(schema)
    const known = this.#schemas.findIndex((one) => JSON.stringify(one) === key)
    const id = known >= 0 ? known + 1 : this.#schemas.push(schema)
    const ids = this.#subjects.get(subject) ?? []
    if (!ids.includes(id)) this.#subjects.set(subject, [...ids, id])
    return id
  }

  async byId(id: number): Promise<SchemaText> {
    const found = this.#schemas[id - 1]
    if (found) return found
    throw new RelayError('SCHEMA_UNKNOWN', `the test's registry has no schema ${id}`)
  }

  async bySubject(subject: string, version: number | 'latest'): Promise<RegisteredSchema> {
    const id = this.#subjects.get(subject)?.at(version === 'latest' ? -1 : version - 1)
    if (id !== undefined) return { ...(await this.byId(id)), id }
    const fix = `give memoryRegistry({ '${subject}': { type, schema } })`
    throw new RelayError(
      'SCHEMA_REFUSED',
      `the test's registry has no version ${version} of subject '${subject}'; ${fix}`,
    )
  }

  async find(subject: string, schema: SchemaText): Promise<number> {
    return this.add(subject, schema)
  }

  async register(subject: string, schema: SchemaText): Promise<number> {
    return this.add(subject, schema)
  }
}
