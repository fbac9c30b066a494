import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type Codec, ValidationError } from '../codec.ts'
import { parse, stringify } from '../json.ts'
import { type CompiledSchema, type NamedSchema, type RegistryCodecOptions, registryCodec } from './registry-codec.ts'
import type { SchemaText } from './schema-registry.ts'

/**
 * JSON with the schemas of a registry. Needs the package ajv. Values are checked against the schema that they name when
 * they are read, and against the output's when they are written (VALIDATION_FAILED, ENCODE_FAILED). Drafts 6, 7, 2019-09
 * and 2020-12; `format` is not checked.
 */
export function jsonSchema<Value>(options: RegistryCodecOptions = {}): Codec<Value> {
  return registryCodec<Value>('jsonSchema', { type: 'JSON', compile }, options)
}

function compile({ text }: SchemaText, referenced: readonly NamedSchema[]): CompiledSchema {
  const schema: unknown = JSON.parse(text)
  const ajv = validatorFor(schema)
  for (const each of referenced) ajv.addSchema(JSON.parse(each.text), each.name)
  const validate = ajv.compile(schema as object)
  return {
    decode: (payload) => checked(validate, parse(payload)),
    encode: (value) => stringify(checked(validate, value)),
  }
}

const options = { strict: false, validateFormats: false, logger: false } as const

function validatorFor(schema: unknown): Ajv {
  const draft = typeof schema === 'object' && schema !== null && '$schema' in schema ? String(schema.$schema) : ''
  if (draft.includes('2020-12')) return new Ajv2020(options)
  if (draft.includes('2019-09')) return new Ajv2019(options)
  if (/draft-0[34]/.test(draft)) throw new TypeError(`${draft} is older than what is supported: draft-06 and later`)
  const ajv = new Ajv(options)
  if (draft.includes('draft-06'))
    ajv.addMetaSchema({ $id: 'http://json-schema.org/draft-06/schema#', type: ['object', 'boolean'] })
  return ajv
}

function checked(validate: ValidateFunction, value: unknown): unknown {
  if (validate(value)) return value
  throw new ValidationError((validate.errors ?? []).map(problemOf).join('; '))
}

/** Names places and rules; values never. */
const problemOf = ({ instancePath, message = 'is not valid' }: ErrorObject): string =>
  `${instancePath || 'the value'} ${message}`
