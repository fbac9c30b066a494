import * as v from 'valibot'
import type { KafkaConnectionConfig, SaslConfig } from '../../kafka/connection-config.ts'
import { type Problem, refuseIfAny, shown } from '../../problems.ts'
import type { EngineSettings } from '../runtime.ts'
import { securityProblems } from './relations.ts'
import { secretVariable } from './secrets.ts'
import { type Setting, type SettingValues, settings } from './settings.ts'

/** Where and how this deployment runs, parsed from its environment once. The function timeout comes from Lambda itself. */
export interface DeploymentConfig extends Omit<EngineSettings, 'functionTimeoutMs' | 'container'> {
  readonly kafka: KafkaConnectionConfig
  readonly table: string
  readonly tableEndpoint: string | undefined
  /** A pull function tails its source until its time is up (R13). */
  readonly linger: boolean
  /** The event source mapping has `ReportBatchItemFailures`. */
  readonly partialFailures: boolean
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
  const { brokers, clientId, tls, tlsCa, tlsCertificate, tlsKey, saslMechanism, saslUsername, saslPassword, ...rest } =
    values
  return { ...rest, kafka: { clientId, brokers, ...tlsOf(values), ...saslOf(values) } }
}

function tlsOf({ tls, tlsCa, tlsCertificate, tlsKey }: SettingValues): Pick<KafkaConnectionConfig, 'tls'> {
  if (!tls) return {}
  if (!tlsCa && !tlsCertificate) return { tls: true }
  return {
    tls: { ...(tlsCa && { ca: tlsCa }), ...(tlsCertificate && tlsKey && { cert: tlsCertificate, key: tlsKey }) },
  }
}

function saslOf({ saslMechanism, saslUsername, saslPassword }: SettingValues): { readonly sasl?: SaslConfig } {
  if (!saslMechanism || !saslUsername || !saslPassword) return {}
  return { sasl: { mechanism: saslMechanism, username: saslUsername, password: saslPassword } }
}
