import type { Problem } from '../lib/problems.ts'
import { timingProblems } from '../lib/relay/config/relations.ts'
import { settings as engineSettings } from '../lib/relay/config/settings.ts'
import { seconds } from '../lib/units.ts'
import { idPart } from './cloudformation.ts'
import { concurrencyAllowed } from './concurrency.ts'
import { type DeploymentPlan, type FunctionPlan, isMapped, type RelayPlan } from './plan.ts'

const functionNameCharactersMax = 64
const consumerGroupCharactersMax = 200
const mappingBrokersMax = 10

/** What is wrong with a plan although each setting is fine: found at packaging, before anything is deployed. */
export function planProblems(plan: DeploymentPlan): Problem[] {
  return [
    ...securityProblems(plan),
    ...clashes(plan),
    ...tooManyBrokers(plan),
    ...plan.relays.flatMap((relay) => [...relayProblems(relay), ...tooMany(plan, relay)]),
  ]
}

function relayProblems(relay: RelayPlan): Problem[] {
  const path = `relays.${relay.facts.name}`
  return [
    ...relay.functions.flatMap((one) => functionProblems(path, relay, one)),
    ...Object.keys(relay.environment).flatMap((name) => wrongIf(decided.has(name), overruled(path, name))),
    ...Object.keys(relay.environment).flatMap((name) => wrongIf(secretTexts.has(name), shownToMany(path, name))),
    ...wrongIf(relay.pollers !== undefined && relay.trigger.kind !== 'provisioned', {
      path: `${path}.pollers`,
      found: `set for the trigger '${relay.trigger.kind}'`,
      wanted: 'no pollers: only provisioned mappings have their own',
      fix: "remove it, or say 'trigger: provisioned'",
    }),
    ...wrongIf(relay.filter.length > 0 && !isMapped(relay), {
      path: `${path}.filter`,
      found: `set for the trigger '${relay.trigger.kind}'`,
      wanted: 'no filter: a schedule has no events',
      fix: 'remove it',
    }),
    ...wrongIf((relay.pollers?.min ?? 1) > (relay.pollers?.max ?? Number.POSITIVE_INFINITY), {
      path: `${path}.pollers.min`,
      found: `${relay.pollers?.min}`,
      wanted: `at most pollers.max (${relay.pollers?.max})`,
      fix: 'lower it',
    }),
    ...wrongIf(relay.bellGroup.length > consumerGroupCharactersMax, {
      path: 'prefix',
      found: `${relay.bellGroup.length} characters in the consumer group ${relay.bellGroup}`,
      wanted: `at most ${consumerGroupCharactersMax}, the bound of Lambda`,
      fix: 'shorten the prefix',
    }),
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

function tooManyBrokers({ brokers, msk, relays }: DeploymentPlan): Problem[] {
  const given = 'ssm' in brokers ? 0 : brokers.length
  return wrongIf(given > mappingBrokersMax && msk === undefined && relays.some(isMapped), {
    path: 'brokers',
    found: `${given} addresses`,
    wanted: `at most ${mappingBrokersMax}, the bound of an event source mapping; clients learn of the others by themselves`,
    fix: 'name fewer',
  })
}

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

/** The very relations that a function checks at its cold start, before it is deployed. */
function functionProblems(path: string, relay: RelayPlan, one: FunctionPlan): Problem[] {
  const milliseconds = (name: 'commitReserveMs' | 'leaseMs' | 'renewEveryMs'): number => {
    const { env, byDefault } = engineSettings[name]
    return Number(relay.environment[env] ?? byDefault)
  }
  const timing = timingProblems({
    functionTimeoutMs: one.timeoutSeconds * seconds(1),
    transactionTimeoutMs: one.transactionTimeoutMs,
    commitReserveMs: milliseconds('commitReserveMs'),
    leaseMs: milliseconds('leaseMs'),
    renewEveryMs: milliseconds('renewEveryMs'),
  })
  return [
    ...timing.map((problem) => ({ ...problem, path: `${path} (${one.role}): ${problem.path}` })),
    ...wrongIf(one.name.length > functionNameCharactersMax, {
      path,
      found: `${one.name.length} characters in the function name ${one.name}`,
      wanted: `at most ${functionNameCharactersMax}, the bound of Lambda`,
      fix: 'shorten the name of the service, the stage or the relay',
    }),
  ]
}

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

const wrongIf = (isWrong: boolean, problem: Problem): Problem[] => (isWrong ? [problem] : [])
