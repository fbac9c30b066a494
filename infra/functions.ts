import { sub, type Value } from './cloudformation.ts'
import { concurrencyReserved } from './concurrency.ts'
import type { DeploymentPlan, FunctionPlan, RelayPlan } from './plan.ts'
import { functionEnvironment } from './resources/environment.ts'
import { roleId } from './resources/roles.ts'

/** An entry of `functions:` as a serverless.yml has it. */
export interface ServerlessFunction {
  readonly name: string
  readonly description: string
  readonly handler: 'index.handler'
  readonly runtime: 'nodejs24.x'
  readonly architecture: 'arm64'
  readonly memorySize: number
  readonly timeout: number
  readonly versionFunction: false
  role?: Value
  readonly environment: Readonly<Record<string, Value>>
  readonly events: readonly { readonly schedule: Readonly<Record<string, Value>> }[]
  readonly reservedConcurrency?: number
  readonly maximumRetryAttempts?: 0
  readonly maximumEventAge?: number
  readonly vpc?: DeploymentPlan['vpc']
  package?: { readonly artifact: string }
}

const about = {
  relay: 'relays what events ring for',
  pull: 'relays what is there, on a schedule',
  sweep: 'reads what bells have missed and keeps idle lanes alive',
  status: 'tells how each lane stands',
} as const

/** All functions of a deployment by key, for the Serverless CLI to compile. Their code is added when it is bundled. */
export function serverlessFunctions(plan: DeploymentPlan): Record<string, ServerlessFunction> {
  return Object.fromEntries(
    plan.relays.flatMap((relay) => relay.functions.map((one) => [one.key, serverlessFunction(plan, relay, one)])),
  )
}

function serverlessFunction(plan: DeploymentPlan, relay: RelayPlan, one: FunctionPlan): ServerlessFunction {
  const limit = one.role === 'bell' ? (relay.concurrency ?? concurrencyReserved(plan, one)) : undefined
  return {
    name: one.name,
    description: `${relay.facts.name}: ${about[one.entry]}`,
    handler: 'index.handler',
    runtime: 'nodejs24.x',
    architecture: 'arm64',
    memorySize: relay.memoryMb,
    timeout: one.timeoutSeconds,
    versionFunction: false, // a rollback deploys a template; versions would only pile up
    role: sub(`\${${roleId(one.key)}.Arn}`),
    environment: functionEnvironment(plan, relay, one),
    events: one.everyMinutes === null ? [] : [{ schedule: { rate: [rate(one.everyMinutes)] } }],
    ...(one.everyMinutes !== null && onlyOnce(one.everyMinutes)),
    ...(limit !== undefined && { reservedConcurrency: limit }),
    ...(plan.vpc !== undefined && { vpc: plan.vpc }),
  }
}

/**
 * Lambda would repeat a scheduled invocation that failed, and keep those for which there was no room, for hours: late ones
 * upon late ones. The next one comes anyway, and does the work of all.
 */
const onlyOnce = (everyMinutes: number) =>
  ({ maximumRetryAttempts: 0, maximumEventAge: Math.min(everyMinutes * 60, eventAgeSecondsMax) }) as const
const eventAgeSecondsMax = 21_600

const rate = (minutes: number): string => (minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`)
