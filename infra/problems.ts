import { isRelayError } from '../lib/errors.ts'
import { type Problem, wrongIf } from '../lib/problems.ts'
import { parseDeploymentConfig } from '../lib/relay/config/config.ts'
import { timingProblems } from '../lib/relay/config/relations.ts'
import { settings as engineSettings } from '../lib/relay/config/settings.ts'
import { seconds } from '../lib/units.ts'
import { idPart, type Value } from './cloudformation.ts'
import { concurrencyAllowed } from './concurrency.ts'
import { mappingProblems } from './mapping-problems.ts'
import type { DeploymentPlan, FunctionPlan, RelayPlan } from './plan.ts'
import { functionEnvironment } from './resources/environment.ts'
import { sizeProblems } from './size-problems.ts'

const functionNameCharactersMax = 64

/** What is wrong with a plan although each setting is fine: found at packaging, before anything is deployed. */
export function planProblems(plan: DeploymentPlan): Problem[] {
  return [
    ...securityProblems(plan),
    ...clashes(plan),
    ...mappingProblems(plan),
    ...sizeProblems(plan),
    ...plan.relays.flatMap((relay) => [...relayProblems(plan, relay), ...tooMany(plan, relay)]),
  ]
}

function relayProblems(plan: DeploymentPlan, relay: RelayPlan): Problem[] {
  const path = `relays.${relay.facts.name}`
  return [
    ...relay.functions.flatMap((one) => functionProblems(path, one)),
    ...coldStartProblems(path, plan, relay),
    ...Object.keys(relay.environment).flatMap((name) => wrongIf(decided.has(name), overruled(path, name))),
    ...Object.keys(relay.environment).flatMap((name) => wrongIf(secretTexts.has(name), shownToMany(path, name))),
  ]
}

const { prefix, brokers, table, generation, transactionTimeoutMs, linger, partialFailures, acceptWeakTopics } =
  engineSettings
/**
 * Roles, mappings and timeouts are made to fit these. Partial failures above all: a mapping that does not ask for them takes
 * the answer for success, and the bell is lost. Weak topics are accepted where packaging warns of it, and nowhere else.
 */
const decided: ReadonlySet<string> = new Set(
  [prefix, brokers, table, generation, transactionTimeoutMs, linger, partialFailures, acceptWeakTopics].map(
    ({ env }) => env,
  ),
)

const overruled = (path: string, name: string): Problem => ({
  path: `${path}.environment.${name}`,
  found: 'set',
  wanted: 'nothing: the deployment sets it so that it fits what is deployed',
  fix: name === acceptWeakTopics.env ? 'set acceptWeakTopics of custom.fencepost instead' : 'remove it',
})

const secretTexts: ReadonlySet<string> = new Set(
  Object.values(engineSettings).flatMap(({ env, ...setting }) => ('secret' in setting ? [env] : [])),
)

const shownToMany = (path: string, name: string): Problem => ({
  path: `${path}.environment.${name}`,
  found: 'a secret as text (not shown)',
  wanted: 'nothing: whoever may read the template or the function would read it',
  fix: 'keep it in Secrets Manager, and name it in auth or in a variable that ends in _SECRET',
})

/** Connections that a cluster refuses look like an outage; worse, they are refused to its other clients too. */
function tooMany(plan: DeploymentPlan, { facts, concurrency }: RelayPlan): Problem[] {
  const allowed = concurrencyAllowed(plan)
  return wrongIf(allowed !== undefined && concurrency !== undefined && concurrency > allowed, {
    path: `relays.${facts.name}.concurrency`,
    found: `${concurrency}`,
    wanted: `at most ${allowed}: what the limits of the cluster leave for each of ${plan.relays.length} relays`,
    fix: 'lower it, or correct limits',
  })
}

function functionProblems(path: string, one: FunctionPlan): Problem[] {
  return wrongIf(one.name.length > functionNameCharactersMax, {
    path,
    found: `${one.name.length} characters in the function name ${one.name}`,
    wanted: `at most ${functionNameCharactersMax}, the bound of Lambda`,
    fix: 'shorten the name of the service, the stage or the relay',
  })
}

/** What each function would refuse at its cold start, by its own rules; what all of them would refuse, once. */
function coldStartProblems(path: string, plan: DeploymentPlan, relay: RelayPlan): Problem[] {
  const seen = new Set<string>()
  return relay.functions.flatMap((one) =>
    refusedBy(plan, relay, one).flatMap((problem) => {
      const key = `${problem.path} ${problem.found}`
      if (seen.has(key)) return []
      seen.add(key)
      return [{ ...problem, path: `${path} (${one.role}): ${problem.path}` }]
    }),
  )
}

function refusedBy(plan: DeploymentPlan, relay: RelayPlan, one: FunctionPlan): readonly Problem[] {
  try {
    const config = parseDeploymentConfig(filledIn(functionEnvironment(plan, relay, one)))
    return timingProblems({ ...config, functionTimeoutMs: one.timeoutSeconds * seconds(1) })
  } catch (error) {
    if (isRelayError(error) && error.code === 'CONFIG_INVALID') return (error.context.problems ?? []) as Problem[]
    throw error
  }
}

/** What CloudFormation looks up is not known here; examples stand in for it. */
const filledIn = (environment: Readonly<Record<string, Value>>): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, typeof value === 'string' ? value : exampleOf(name)]),
  )

const exampleOf = (name: string) => Object.values(engineSettings).find(({ env }) => env === name)?.example

/** Names that CloudFormation or Lambda would take for one: one of the two would silently be gone. */
function clashes({ relays }: DeploymentPlan): Problem[] {
  const seen = new Map<string, string>()
  return relays
    .flatMap(({ functions }) => functions)
    .flatMap(({ key }) => {
      const other = seen.get(idPart(key))
      seen.set(idPart(key), key)
      return wrongIf(other !== undefined, {
        path: `function ${key}`,
        found: `the logical id ${idPart(key)}, which function ${other} has too`,
        wanted: 'a name of its own',
        fix: 'rename one of the relays',
      })
    })
}

function securityProblems({ auth, msk, vpc }: DeploymentPlan): Problem[] {
  const method = auth === undefined ? 'none' : Object.keys(auth).join()
  return [
    ...wrongIf(method === 'iam' && msk === undefined, {
      path: 'auth.iam',
      found: 'true, without msk',
      wanted: 'the ARN of the cluster in msk: permissions are given for that cluster only',
      fix: 'set msk',
    }),
    ...wrongIf(msk !== undefined && (method === 'scram256' || method === 'plain'), {
      path: `auth.${method}`,
      found: 'set for an MSK cluster',
      wanted: 'scram512, mtls or iam: MSK has no other',
      fix: 'choose one of them, or remove msk to connect as to a cluster of your own',
    }),
    ...wrongIf(msk !== undefined && vpc === undefined, {
      path: 'vpc',
      found: 'missing',
      wanted:
        'subnets and security groups from which the brokers of MSK are reached: the mapping lends functions no way',
      fix: 'set vpc.subnetIds and vpc.securityGroupIds',
    }),
  ]
}
