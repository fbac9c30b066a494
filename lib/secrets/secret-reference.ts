import { RelayError } from '../errors.ts'

/** Where a secret is kept. */
export interface SecretReference {
  readonly service: 'secretsmanager' | 'ssm'
  /** Name or ARN, as the service takes it. */
  readonly id: string
  /** As it was written, for messages. */
  readonly text: string
}

export const secretReferenceRule =
  "'secretsmanager:<name or ARN>', 'ssm:<parameter name>' or the ARN of a secret or parameter"

const prefixes = ['secretsmanager', 'ssm'] as const
const arn = /^arn:[a-z-]+:(secretsmanager|ssm):[a-z0-9-]+:\d{12}:(?:secret:\S+|parameter\/\S+)$/

/** Null when the text names no secret. */
export function parseSecretReference(text: string): SecretReference | null {
  const [, service] = arn.exec(text) ?? []
  if (service === 'secretsmanager' || service === 'ssm') return { service, id: text, text }
  const prefix = prefixes.find((name) => text.startsWith(`${name}:`))
  const id = text.slice((prefix?.length ?? 0) + 1)
  return prefix && /^\S+$/.test(id) ? { service: prefix, id, text } : null
}

export const isSecretReference = (text: string): boolean => parseSecretReference(text) !== null

/** @throws RelayError CONFIG_INVALID */
export function secretReference(text: string): SecretReference {
  const reference = parseSecretReference(text)
  if (reference) return reference
  throw new RelayError('CONFIG_INVALID', `'${text}' names no secret: give ${secretReferenceRule}`)
}
