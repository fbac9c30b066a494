import { type Problem, shown } from '../../problems.ts'
import { minutes } from '../../units.ts'
import type { EngineSettings } from '../runtime.ts'
import { type SettingValues, settings } from './settings.ts'

/** A function behind a Kafka event source mapping may run 14 minutes, not 15 (AWS Lambda guide, Kafka event sources). */
const FUNCTION_TIMEOUT_MS_MAX = minutes(14)

export type Timing = Pick<
  EngineSettings,
  'functionTimeoutMs' | 'transactionTimeoutMs' | 'commitReserveMs' | 'leaseMs' | 'renewEveryMs'
>

/** Times that are each fine and do not fit together. */
export function timingProblems(timing: Timing): Problem[] {
  const { functionTimeoutMs, transactionTimeoutMs, commitReserveMs, leaseMs, renewEveryMs } = timing
  const relations: readonly (readonly [holds: boolean, problem: Problem])[] = [
    [
      functionTimeoutMs <= FUNCTION_TIMEOUT_MS_MAX,
      {
        path: 'function timeout',
        found: `${functionTimeoutMs} ms`,
        wanted: `at most ${FUNCTION_TIMEOUT_MS_MAX} ms: the longest that a Kafka event source mapping waits`,
        fix: 'lower the timeout of the function',
      },
    ],
    [
      functionTimeoutMs < transactionTimeoutMs,
      {
        path: settings.transactionTimeoutMs.env,
        found: `${transactionTimeoutMs} ms`,
        wanted: `more than the function timeout (${functionTimeoutMs} ms): the broker must not abort a transaction that is still worked on`,
        fix: 'raise it, or lower the timeout of the function',
      },
    ],
    [
      commitReserveMs < functionTimeoutMs,
      {
        path: settings.commitReserveMs.env,
        found: `${commitReserveMs} ms`,
        wanted: `less than the function timeout (${functionTimeoutMs} ms): otherwise no window could begin`,
        fix: 'lower it, or raise the timeout of the function',
      },
    ],
    [
      renewEveryMs * 2 <= leaseMs,
      {
        path: settings.renewEveryMs.env,
        found: `${renewEveryMs} ms`,
        wanted: `at most half of ${settings.leaseMs.env} (${leaseMs} ms): one lost renewal must not lose the lane`,
        fix: 'lower it, or raise the lease',
      },
    ],
  ]
  return relations.filter(([holds]) => !holds).map(([, problem]) => problem)
}

/** Settings of security that contradict each other, or would do something less safe than they seem to. */
export function securityProblems(values: SettingValues): Problem[] {
  const { tls, saslMechanism, registryUrl } = values
  const usesSasl = isAnyGiven(values, ['saslMechanism', ...login, 'saslSecret'])
  const usesCertificates = isAnyGiven(values, [
    'tlsCa',
    'tlsCaSecret',
    ...client,
    'tlsKeyPassphrase',
    'tlsClientSecret',
  ])
  const usesRegistryLogin = isAnyGiven(values, [...registryLogin, 'registrySecret'])
  const isIam = saslMechanism === 'aws-msk-iam'
  return [
    ...(usesCertificates && !tls ? [wrong('tls', values, "'true', because certificates are given")] : []),
    ...(isIam && !tls ? [wrong('tls', values, "'true', because aws-msk-iam works over TLS only")] : []),
    ...(usesSasl && !isIam && tls === undefined
      ? [wrong('tls', values, "'true', or 'false' to log in without encryption")]
      : []),
    ...either(values, 'tlsCa', 'tlsCaSecret'),
    ...either(values, 'tlsCertificate', 'tlsClientSecret'),
    ...together(values, client),
    ...(values.tlsKeyPassphrase && !values.tlsKey ? [wrong('tlsKey', values, 'the key of that passphrase')] : []),
    ...(isIam ? [...login, 'saslSecret' as const].flatMap((name) => useless(values, name)) : loginProblems(values)),
    ...either(values, 'registryUsername', 'registrySecret'),
    ...together(values, registryLogin),
    ...(usesRegistryLogin && !registryUrl ? [wrong('registryUrl', values, 'the registry to log in to')] : []),
  ]
}

const client = ['tlsCertificate', 'tlsKey'] as const
const login = ['saslUsername', 'saslPassword'] as const
const registryLogin = ['registryUsername', 'registryPassword'] as const

function loginProblems(values: SettingValues): Problem[] {
  if (values.saslSecret === undefined) return together(values, ['saslMechanism', ...login])
  return [
    ...together(values, ['saslMechanism', 'saslSecret']),
    ...login.flatMap((name) => surplus(values, name, 'saslSecret')),
  ]
}

const isAnyGiven = (values: SettingValues, names: readonly SettingName[]): boolean =>
  names.some((name) => values[name] !== undefined)

/** Two ways to say the same: one of them. */
const either = (values: SettingValues, name: SettingName, other: SettingName): Problem[] =>
  values[other] === undefined ? [] : surplus(values, name, other)

const surplus = (values: SettingValues, name: SettingName, other: SettingName): Problem[] =>
  values[name] === undefined ? [] : [superfluous(name, `nothing, because ${settings[other].env} is given`)]

const useless = (values: SettingValues, name: SettingName): Problem[] =>
  values[name] === undefined
    ? []
    : [superfluous(name, 'nothing, because aws-msk-iam logs in with the role of the function')]

const superfluous = (name: SettingName, wanted: string): Problem => ({
  path: settings[name].env,
  found: 'given',
  wanted,
  fix: 'remove one of them',
})

type SettingName = keyof SettingValues

/** Settings that are given all or none. */
function together(values: SettingValues, names: readonly SettingName[]): Problem[] {
  const given = names.filter((name) => values[name] !== undefined)
  if (given.length === 0) return []
  const because = given.map((name) => settings[name].env).join(' and ')
  const absent = names.filter((name) => !given.includes(name))
  return absent.map((name) => wrong(name, values, `a value, because ${because} is given`))
}

const wrong = (name: SettingName, values: SettingValues, wanted: string): Problem => {
  const { env, example } = settings[name]
  return { path: env, found: shown(values[name]), wanted, fix: `set it, for example to ${example}` }
}
