import { messageOf, RelayError } from '../errors.ts'
import type { SecretReference } from './secret-reference.ts'
import type { SecretStore } from './secret-store.ts'

const requestTimeoutMs = 3_000
const attempts = 3

/** What both clients are made with: region, role and endpoint are the SDK's own defaults. */
const clientConfig = {
  maxAttempts: attempts,
  requestHandler: {
    connectionTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    throwOnRequestTimeout: true,
  },
}

/**
 * AWS Secrets Manager and SSM Parameter Store, decrypted. Each client is loaded by the first secret that needs it, and
 * let go of afterwards: secrets are read seldom.
 *
 * The role needs `secretsmanager:GetSecretValue` or `ssm:GetParameter` on the secret, and `kms:Decrypt` where it has a
 * key of its own. Sources: API references of both services.
 */
export function createAwsSecretStore(): SecretStore {
  return {
    async read(reference) {
      const text = await readers[reference.service](reference.id).catch((error) => {
        throw unreadable(reference, error)
      })
      if (text) return text
      throw new RelayError('SECRET_UNREADABLE', `secret ${reference.text} has no text; store it as text or JSON`, {
        disposition: 'fix-config',
      })
    },
  }
}

const readers: Readonly<Record<SecretReference['service'], (id: string) => Promise<string | undefined>>> = {
  async secretsmanager(id) {
    const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager')
    const client = new SecretsManagerClient(clientConfig)
    try {
      return (await client.send(new GetSecretValueCommand({ SecretId: id }))).SecretString
    } finally {
      client.destroy()
    }
  },
  async ssm(id) {
    const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm')
    const client = new SSMClient(clientConfig)
    try {
      return (await client.send(new GetParameterCommand({ Name: id, WithDecryption: true }))).Parameter?.Value
    } finally {
      client.destroy()
    }
  },
}

/** Names of errors that do not pass by themselves. */
const needsSomebody = new Map([
  ['ResourceNotFoundException', 'create it, or correct its name or region'],
  ['ParameterNotFound', 'create it, or correct its name or region'],
  ['InvalidRequestException', 'it may be marked for deletion: restore it'],
  ['AccessDeniedException', 'allow the role to read it, and kms:Decrypt where it has a key of its own'],
  ['DecryptionFailure', 'allow the role kms:Decrypt on its key'],
  ['InvalidKeyId', 'allow the role kms:Decrypt on its key'],
  ['CredentialsProviderError', 'give this process AWS credentials'],
  ['UnrecognizedClientException', 'give this process AWS credentials that are valid'],
  ['ExpiredTokenException', 'give this process AWS credentials that are valid'],
])

function unreadable({ text }: SecretReference, cause: unknown): RelayError {
  const name = cause instanceof Error ? cause.name : ''
  const fix = needsSomebody.get(name)
  const message = `secret ${text} cannot be read (${name}: ${messageOf(cause)})${fix ? `; ${fix}` : ''}`
  return new RelayError('SECRET_UNREADABLE', message, { cause, ...(fix && { disposition: 'fix-config' as const }) })
}
