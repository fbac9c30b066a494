import { serverlessFunctions } from '../../infra/functions.ts'
import { parseSettings } from '../../infra/parse-settings.ts'
import { type DeploymentPlan, planDeployment, type RelayFacts } from '../../infra/plan.ts'
import { template } from '../../infra/resources/all.ts'
import type { Deployed, TemplateResource } from './template/deployed.ts'

export const leastSettings = { prefix: 'shop-prod', brokers: 'b-1.example.com:9096', relays: { delays: {} } }

/** The plan of `custom.fencepost`, for relays that read `<name>` or what `sources` says, and write `<name>.out`. */
export function planOf(
  settings: Readonly<Record<string, unknown>> = {},
  sources: Readonly<Record<string, string>> = {},
): DeploymentPlan {
  const parsed = parseSettings({ ...leastSettings, ...settings })
  const facts = new Map<string, RelayFacts>(
    Object.keys(parsed.relays).map((name) => [
      name,
      { name, sourceTopic: sources[name] ?? name, outputTopics: [`${name}.out`, `${name}.dead`] },
    ]),
  )
  return planDeployment(parsed, facts, { service: 'shop', stage: 'prod' }, 7)
}

/** A plan as the assertions look at templates. */
export function deployedOf(plan: DeploymentPlan): Deployed {
  const functions = Object.entries(serverlessFunctions(plan)).map(([key, one]) => ({
    key,
    runtime: one.runtime,
    architecture: one.architecture,
    handler: one.handler,
    timeoutSeconds: one.timeout,
    role: one.role,
    environment: one.environment,
    schedule: one.events.length === 0 ? null : { retries: one.maximumRetryAttempts },
  }))
  const resources: Readonly<Record<string, TemplateResource>> = template(plan).Resources
  return { functions, resources }
}
