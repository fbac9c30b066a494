import type { StandardSchemaV1 } from '@standard-schema/spec'
import { RelayError } from '../errors.ts'
import { isPromiseLike } from '../promise-like.ts'
import { ValidationError } from './codec.ts'

const ISSUES_SHOWN_MAX = 5
const ISSUE_CHARACTERS_MAX = 160

/** The validator's value. @throws ValidationError naming the first issues; RelayError CONFIG_INVALID for an asynchronous validator */
export function validate(schema: StandardSchemaV1, value: unknown): unknown {
  const result = schema['~standard'].validate(value)
  if (isPromiseLike(result)) throw asynchronous(schema, result)
  if (result.issues) throw new ValidationError(issuesText(result.issues))
  return result.value
}

/** Finds what can be found before the first record: valibot says in the schema that it is asynchronous, others only by what they return. */
export function assertSyncSchema(schema: StandardSchemaV1): void {
  if ('async' in schema && schema.async === true) throw asynchronous(schema)
}

function asynchronous(schema: StandardSchemaV1, result?: PromiseLike<unknown>): RelayError {
  result?.then(undefined, () => undefined) // what it comes to is of no interest any more
  return new RelayError(
    'CONFIG_INVALID',
    `the ${schema['~standard'].vendor} validator given to json() is asynchronous, and records are decoded synchronously; ` +
      'validate the shape here and do look-ups in an async transform',
  )
}

function issuesText(issues: readonly StandardSchemaV1.Issue[]): string {
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map(issueText)
  if (issues.length > shown.length) shown.push(`${issues.length - shown.length} more`)
  return shown.join('; ')
}

function issueText({ path, message }: StandardSchemaV1.Issue): string {
  const where = path?.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  const text = where ? `${where}: ${message}` : message
  return text.length > ISSUE_CHARACTERS_MAX ? `${text.slice(0, ISSUE_CHARACTERS_MAX)}…` : text
}
