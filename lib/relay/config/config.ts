import * as v from 'valibot'
import type { KafkaConnectionConfig, SaslConfig } from '../../kafka/connection-config.ts'
import { type Problem, refuseIfAny, shown } from '../../problems.ts'
import { mskIamToken } from '../../secrets/msk-iam-token.ts'
import { type SecretReference, secretReference } from '../../secrets/secret-reference.ts'
import type { EngineSettings } from '../runtime.ts'
import type { KafkaSecrets } from './kafka-security.ts'
import { securityProblems } from './relations.ts'
import { secretVariable } from './secrets.ts'
import { type Setting, type SettingValues, settings } from './settings.ts'

/** Where and how this deployment runs, parsed from its environment once. The function timeout comes from Lambda itself. */
export interface DeploymentConfig extends Omit<EngineSettings, 'functionTimeoutMs' | 'container'> {
  readonly kafka: KafkaConnectionConfig
  /** Where the rest of its protection is kept. */
  readonly kafkaSecrets: KafkaSecrets
  /** For codecs with a schema registry; null: they must name one themselves. */
  readonly registry: RegistryConfig | null
  readonly table: string
  readonly tableEndpoint: string | undefined
  /** A pull function tails its source until its time is up (R13). */
  readonly linger: boolean
  /** The event source mapping has `ReportBatchItemFailures`. */
  readonly partialFailures: boolean
}

export interface RegistryConfig {
  readonly url: string
  readonly login: { readonly username: string; readonly password: string } | SecretReference | null
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Strict: nothing is guessed or mended, an unknown FENCEPOST_ variable is refused, and an empty one counts as missing.
 * @throws RelayError CONFIG_INVALID naming every problem, secrets left out
 */
export function parseDeploymentConfig(env: Environment): DeploymentConfig {
  const problems: Problem[] = unknownVariables(env)
  const parsed = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => [
    name,
    parse(setting, env, problems),
  ])
  // Each value is what its own schema gave, or a problem was noted and the next lines throw.
  const values = Object.fromEntries(parsed) as SettingValues
  refuseIfAny('the environment', problems)
  refuseIfAny('the environment', securityProblems(values))
  return toConfig(values)
}

function parse(setting: Setting<unknown>, env: Environment, problems: Problem[]): unknown {
  const { env: path, byDefault, example, schema } = setting
  const given = env[path] || byDefault
  const fix = `set it, for example to ${example}`
  if (given === undefined) {
    if (!setting.optional) problems.push({ path, found: 'missing', wanted: 'a value', fix })
    return undefined
  }
  const result = v.safeParse(schema, given)
  if (result.success) return result.output
  const found = setting.secret ? 'not usable (a secret, not shown)' : shown(given)
  problems.push({ path, found, wanted: result.issues[0].message, fix })
  return undefined
}

function unknownVariables(env: Environment): Problem[] {
  const known = new Set<string>(Object.values(settings).map((setting) => setting.env))
  return Object.keys(env)
    .filter((name) => name.startsWith('FENCEPOST_') && !known.has(name) && !name.startsWith(secretVariable('')))
    .map((path) => ({
      path,
      found: 'not a setting',
      wanted: 'a name from docs/reference/settings.md',
      fix: 'correct its spelling or remove it',
    }))
}

function toConfig(values: SettingValues): DeploymentConfig {
  const { brokers, clientId, tls, tlsCa, tlsCaSecret, tlsCertificate, tlsKey, tlsKeyPassphrase, ...others } = values
  const { tlsClientSecret, saslMechanism, saslUsername, saslPassword, saslSecret, ...most } = others
  const { registryUrl, registryUsername, registryPassword, registrySecret, ...rest } = most
  const kafka = { clientId, brokers, ...tlsOf(values), ...saslOf(values) }
  return { ...rest, kafka, kafkaSecrets: kafkaSecretsOf(values), registry: registryOf(values) }
}

function tlsOf(values: SettingValues): Pick<KafkaConnectionConfig, 'tls'> {
  const { tls, tlsCa, tlsCertificate, tlsKey, tlsKeyPassphrase } = values
  if (!tls) return {}
  const client = tlsCertificate && tlsKey && { cert: tlsCertificate, key: tlsKey }
  const options = { ...(tlsCa && { ca: tlsCa }), ...client, ...(tlsKeyPassphrase && { passphrase: tlsKeyPassphrase }) }
  return { tls: Object.keys(options).length > 0 ? options : true }
}

function saslOf({ saslMechanism, saslUsername, saslPassword }: SettingValues): { readonly sasl?: SaslConfig } {
  if (saslMechanism === 'aws-msk-iam') return { sasl: { mechanism: 'oauthbearer', token: mskIamToken } }
  if (!saslMechanism || !saslUsername || !saslPassword) return {}
  return { sasl: { mechanism: saslMechanism, username: saslUsername, password: saslPassword } }
}

function kafkaSecretsOf({ saslMechanism, saslSecret, tlsCaSecret, tlsClientSecret }: SettingValues): KafkaSecrets {
  const login = saslSecret && saslMechanism && saslMechanism !== 'aws-msk-iam'
  return {
    ...(login && { sasl: { mechanism: saslMechanism, secret: secretReference(saslSecret) } }),
    ...(tlsCaSecret && { tlsCa: secretReference(tlsCaSecret) }),
    ...(tlsClientSecret && { tlsClient: secretReference(tlsClientSecret) }),
  }
}

function registryOf(values: SettingValues): RegistryConfig | null {
  const { registryUrl: url, registryUsername: username, registryPassword: password, registrySecret } = values
  if (!url) return null
  if (registrySecret) return { url, login: secretReference(registrySecret) }
  return { url, login: username && password ? { username, password } : null }
}
