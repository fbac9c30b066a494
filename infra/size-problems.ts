import { type Problem, wrongIf } from '../lib/problems.ts'
import { serverlessFunctions } from './functions.ts'
import type { DeploymentPlan, RelayPlan } from './plan.ts'
import { template } from './resources/all.ts'
import { functionEnvironment } from './resources/environment.ts'
import { statementsOf } from './resources/roles.ts'

/** AWS Lambda quotas, "Environment variables"; IAM quotas, inline policies of a role; CloudFormation quotas, resources. */
const environmentBytesMax = 4_096
const policyCharactersMax = 10_240
const resourcesMax = 500

/** What of a plan is larger than AWS takes; it would say so in the midst of a deployment. */
export function sizeProblems(plan: DeploymentPlan): Problem[] {
  const resources = resourcesOf(plan)
  return [
    ...wrongIf(resources > resourcesMax, {
      path: 'relays',
      found: `${plan.relays.length}, which take ${resources} resources`,
      wanted: `at most ${resourcesMax} resources, the bound of a stack`,
      fix: 'divide them among services with prefixes of their own',
    }),
    ...plan.relays.flatMap((relay) => relayProblems(plan, relay)),
  ]
}

/** The bell has most of both. */
function relayProblems(plan: DeploymentPlan, relay: RelayPlan): Problem[] {
  const [bell] = relay.functions
  if (!bell) return []
  const environment = Object.entries(functionEnvironment(plan, relay, bell))
  const bytes = environment.reduce((sum, [name, value]) => sum + Buffer.byteLength(name + textOf(value)), 0)
  const characters = JSON.stringify(statementsOf(plan, relay, bell)).length
  return [
    ...wrongIf(bytes > environmentBytesMax, {
      path: `relays.${relay.facts.name}.environment`,
      found: `${bytes} bytes with what the deployment adds`,
      wanted: `at most ${environmentBytesMax}, the bound of Lambda`,
      fix: 'shorten it, name fewer brokers, or keep values in SSM',
    }),
    ...wrongIf(characters > policyCharactersMax, {
      path: `relays.${relay.facts.name}`,
      found: `${characters} characters of permissions`,
      wanted: `at most ${policyCharactersMax}, the bound of IAM`,
      fix: 'write to fewer outputs, or divide the relay',
    }),
  ]
}

/** How long what CloudFormation looks up will be is not known here. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** With those of the Serverless CLI: function and log; rule, permission and retries of a schedule; the bucket for code and its policy. */
function resourcesOf(plan: DeploymentPlan): number {
  const functions = Object.values(serverlessFunctions(plan))
  const scheduled = functions.filter(({ events }) => events.length > 0)
  return Object.keys(template(plan).Resources).length + 2 * functions.length + 3 * scheduled.length + 2
}
