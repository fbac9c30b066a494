import { RelayError } from '../errors.ts'
import type { SecretReference } from './secret-reference.ts'

/** Text fields of a secret that is JSON; messages name fields and never show values. @throws RelayError CONFIG_INVALID */
export function secretFields<Name extends string>(
  reference: SecretReference,
  text: string,
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const fields = objectIn(text)
  const missing = names.filter((name) => typeof fields?.[name] !== 'string' || fields[name] === '')
  if (missing.length === 0) return fields as Record<Name, string>
  const found = fields ? `has no ${missing.join(' and no ')}` : 'is no JSON object'
  const wanted = `{${names.map((name) => `"${name}": "..."`).join(', ')}}`
  throw new RelayError('CONFIG_INVALID', `secret ${reference.text} ${found}; store it as ${wanted}`)
}

/** One text field of a secret that is JSON, if it is and has it. */
export function secretField(text: string, name: string): string | undefined {
  const value = objectIn(text)?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
