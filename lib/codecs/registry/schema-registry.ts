/** The Confluent API's names; a registry leaves AVRO out. */
export type SchemaType = 'AVRO' | 'PROTOBUF' | 'JSON'

export interface SchemaReference {
  /** As the referring schema calls it: an Avro name, a .proto file, a JSON `$ref`. */
  readonly name: string
  readonly subject: string
  readonly version: number
}

export interface SchemaText {
  readonly type: SchemaType
  readonly text: string
  readonly references: readonly SchemaReference[]
}

export interface RegisteredSchema extends SchemaText {
  readonly id: number
}

/**
 * Schemas by id and by subject, asked anew at each call: whoever asks keeps the answer, because an id means the same for
 * ever.
 *
 * All throw RelayError REGISTRY_UNAVAILABLE when there is no usable answer.
 */
export interface SchemaRegistry {
  /** @throws RelayError SCHEMA_UNKNOWN */
  byId(id: number, signal: AbortSignal): Promise<SchemaText>
  /** @throws RelayError SCHEMA_REFUSED when the subject has none, or not that version */
  bySubject(subject: string, version: number | 'latest', signal: AbortSignal): Promise<RegisteredSchema>
  /** The id of a schema that the subject has already. @throws RelayError SCHEMA_REFUSED */
  find(subject: string, schema: SchemaText, signal: AbortSignal): Promise<number>
  /** The same, adding it where it is missing. @throws RelayError SCHEMA_REFUSED where it may not be added */
  register(subject: string, schema: SchemaText, signal: AbortSignal): Promise<number>
}
