import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Codec } from './codec.ts'
import { utf8Text } from './string.ts'
import { assertSyncSchema, validate } from './validate.ts'

/**
 * JSON text in UTF-8.
 *
 * - `json(Order)` with a validator (zod, valibot, arktype: any Standard Schema): transforms see what the validator
 *   returns; outputs are checked against it and written as given. Validators must be synchronous.
 * - `json<Order>()` with a type alone: nothing is checked, the type is a promise of yours.
 *
 * Whole numbers above 2^53 lose digits in JSON: send them as strings.
 * @throws RelayError CONFIG_INVALID when the validator is asynchronous
 */
export function json<Value>(): Codec<Value>
export function json<Schema extends StandardSchemaV1>(
  schema: Schema,
): Codec<StandardSchemaV1.InferOutput<Schema>, StandardSchemaV1.InferInput<Schema>>
export function json(schema?: StandardSchemaV1): Codec<unknown> {
  return schema === undefined ? uncheckedJson : checkedJson(schema)
}

const uncheckedJson: Codec<unknown> = { name: 'json', decode: parse, encode: stringify }

function checkedJson(schema: StandardSchemaV1): Codec<unknown> {
  assertSyncSchema(schema)
  return {
    name: 'json',
    decode: (raw) => validate(schema, parse(raw)),
    encode: (value) => {
      validate(schema, value)
      return stringify(value)
    },
  }
}

/** The parser's own message quotes the text; ours does not, because messages reach logs. */
export function parse(raw: Buffer): unknown {
  const text = utf8Text(raw)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`the ${raw.length} bytes are not JSON${positionIn(error)}`)
  }
}

function positionIn(error: unknown): string {
  const position = error instanceof Error ? /at position \d+/.exec(error.message) : null
  return position ? `: it breaks off ${position[0]}` : ''
}

export function stringify(value: unknown): Buffer {
  const text = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`json() cannot write ${typeof value}`)
  return Buffer.from(text, 'utf8')
}
