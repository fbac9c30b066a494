/** Kafka's message schemas, narrowed to the versions that are wanted. Format: Kafka's generator, `MessageSpec.java`. */

export interface Range {
  readonly min: number
  readonly max: number
}

export interface Field {
  readonly name: string
  readonly about: string
  readonly type: FieldType
  /** The versions of the API that have the field; undefined when all wanted ones have it. */
  readonly only: Range | undefined
  readonly nullable: boolean
  readonly tag: number | undefined
  readonly ignorable: boolean
  /** TypeScript source of the default value. */
  readonly defaultSource: string
  readonly hasDefault: boolean
}

export type FieldType =
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'struct'; readonly struct: Struct }
  | { readonly kind: 'array'; readonly item: FieldType }

export type ScalarName = 'bool' | 'int8' | 'int16' | 'uint16' | 'int32' | 'int64' | 'uuid' | 'string' | 'bytes'

export interface Struct {
  readonly name: string
  readonly fields: readonly Field[]
}

export interface Api {
  readonly name: string
  readonly file: string
  readonly key: number
  readonly versions: Range
  readonly flexible: boolean
  readonly request: Struct
  readonly response: Struct
}

interface RawField {
  readonly name: string
  readonly type: string
  readonly versions: string
  readonly about?: string
  readonly nullableVersions?: string
  readonly tag?: number
  readonly ignorable?: boolean
  readonly default?: string | boolean | number
  readonly fields?: readonly RawField[]
}

interface RawMessage {
  readonly apiKey: number
  readonly name: string
  readonly validVersions: string
  readonly flexibleVersions: string
  readonly fields: readonly RawField[]
  readonly commonStructs?: readonly { readonly name: string; readonly fields: readonly RawField[] }[]
}

const scalars: ReadonlySet<string> = new Set<ScalarName>([
  'bool',
  'int8',
  'int16',
  'uint16',
  'int32',
  'int64',
  'uuid',
  'string',
  'bytes',
])

export function parseApi(name: string, versions: Range, requestJson: string, responseJson: string): Api {
  const request = parseMessage(requestJson)
  const response = parseMessage(responseJson)
  for (const message of [request, response]) assertCovers(message, versions)
  return {
    name,
    file: name.replaceAll(/(?<!^)[A-Z]/g, '-$&').toLowerCase(),
    key: request.apiKey,
    versions,
    flexible: isFlexible(request, versions),
    request: structOf(request.name, request.fields, request, versions),
    response: structOf(response.name, response.fields, response, versions),
  }
}

const parseMessage = (json: string): RawMessage => JSON.parse(json.replaceAll(/^\s*\/\/.*$/gm, ''))

function assertCovers(message: RawMessage, wanted: Range): void {
  const valid = parseRange(message.validVersions)
  if (wanted.min < valid.min || wanted.max > valid.max)
    throw new Error(`${message.name} has versions ${message.validVersions}, wanted ${wanted.min}-${wanted.max}`)
}

function isFlexible(message: RawMessage, versions: Range): boolean {
  const flexible = parseRange(message.flexibleVersions)
  if (flexible.min > versions.max) return false
  if (flexible.min <= versions.min) return true
  throw new Error(
    `${message.name} becomes flexible inside ${versions.min}-${versions.max}: choose versions on one side`,
  )
}

function parseRange(text: string): Range {
  if (text === 'none') return { min: Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }
  const [min, max] = text.split(/[-+]/)
  if (text.endsWith('+')) return { min: Number(min), max: Number.MAX_SAFE_INTEGER }
  return { min: Number(min), max: Number(max ?? min) }
}

function structOf(name: string, fields: readonly RawField[], message: RawMessage, versions: Range): Struct {
  const present = fields.filter(({ versions: text }) => {
    const range = parseRange(text)
    return range.min <= versions.max && range.max >= versions.min
  })
  return { name, fields: present.map((field) => fieldOf(field, message, versions)) }
}

function fieldOf(raw: RawField, message: RawMessage, versions: Range): Field {
  const range = parseRange(raw.versions)
  const nullable = raw.nullableVersions !== undefined && parseRange(raw.nullableVersions).min <= versions.max
  const present = { min: Math.max(range.min, versions.min), max: Math.min(range.max, versions.max) }
  const type = typeOf(raw.type, raw, message, present)
  if (nullable && type.kind === 'struct') throw new Error(`${message.name}.${raw.name}: nullable structs are not known`)
  return {
    name: raw.name.charAt(0).toLowerCase() + raw.name.slice(1),
    about: raw.about ?? '',
    type,
    only: range.min <= versions.min && range.max >= versions.max ? undefined : range,
    nullable,
    tag: raw.tag,
    ignorable: raw.ignorable === true,
    defaultSource: defaultOf(raw, type),
    hasDefault: raw.default !== undefined,
  }
}

function typeOf(name: string, raw: RawField, message: RawMessage, versions: Range): FieldType {
  if (name.startsWith('[]')) return { kind: 'array', item: typeOf(name.slice(2), raw, message, versions) }
  if (name === 'records') return { kind: 'scalar', name: 'bytes' }
  if (scalars.has(name)) return { kind: 'scalar', name: name as ScalarName }
  const fields = raw.fields ?? message.commonStructs?.find((common) => common.name === name)?.fields
  if (fields === undefined) throw new Error(`${message.name}.${raw.name}: type ${name} is not known`)
  return { kind: 'struct', struct: structOf(name, fields, message, versions) }
}

function defaultOf(raw: RawField, type: FieldType): string {
  if (raw.default === 'null') return 'null'
  if (type.kind === 'array') return '[]'
  if (type.kind === 'struct') return `{ ${type.struct.fields.map((f) => `${f.name}: ${f.defaultSource}`).join(', ')} }`
  return scalarDefault(type.name, raw.default)
}

function scalarDefault(name: ScalarName, value: string | boolean | number = ''): string {
  switch (name) {
    case 'bool':
      return value === true || value === 'true' ? 'true' : 'false'
    case 'string':
      return `'${value}'`
    case 'uuid':
      return `'00000000-0000-0000-0000-000000000000'`
    case 'bytes':
      return 'Buffer.alloc(0)'
    case 'int64':
      return `${BigInt(value)}n`
    default:
      return String(Number(value))
  }
}
