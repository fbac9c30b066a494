import { type Problem, wrongIf } from '../lib/problems.ts'
import { type DeploymentPlan, isMapped, type RelayPlan } from './plan.ts'

/** What an event source mapping takes (AWS Lambda API, CreateEventSourceMapping); Kafka itself takes more. */
const brokersMax = 10
const brokerAddress = /^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?:\d{1,5}$/
const topicName = /^[^.][\w.-]+$/

/** What of a plan no mapping would take, or would not heed. */
export function mappingProblems(plan: DeploymentPlan): Problem[] {
  return [...brokerProblems(plan), ...plan.relays.flatMap(relayProblems)]
}

/** A mapping to MSK finds the brokers by itself. */
function brokerProblems({ brokers, msk, relays }: DeploymentPlan): Problem[] {
  if ('ssm' in brokers || msk !== undefined || !relays.some(isMapped)) return []
  const odd = brokers.filter((address, index) => !brokerAddress.test(address) || brokers.indexOf(address) !== index)
  return [
    ...wrongIf(brokers.length > brokersMax, {
      path: 'brokers',
      found: `${brokers.length} addresses`,
      wanted: `at most ${brokersMax}, the bound of an event source mapping; clients learn of the others by themselves`,
      fix: 'name fewer',
    }),
    ...odd.map((address) => ({
      path: 'brokers',
      found: address,
      wanted: 'host names of letters, digits and dashes, each once: an event source mapping takes no others',
      fix: "correct it, or say 'trigger: pull' for each relay",
    })),
  ]
}

function relayProblems(relay: RelayPlan): Problem[] {
  const { facts, trigger, pollers, filter } = relay
  const path = `relays.${facts.name}`
  return [
    ...wrongIf(isMapped(relay) && !topicName.test(facts.sourceTopic), {
      path: `${path}.trigger`,
      found: `'${trigger.kind}' for the topic '${facts.sourceTopic}'`,
      wanted: "'pull' or 'linger': an event source mapping takes topics of two characters or more, and no leading dot",
      fix: "say 'trigger: pull'",
    }),
    ...wrongIf(pollers !== undefined && trigger.kind !== 'provisioned', {
      path: `${path}.pollers`,
      found: `set for the trigger '${trigger.kind}'`,
      wanted: 'no pollers: only provisioned mappings have their own',
      fix: "remove it, or say 'trigger: provisioned'",
    }),
    ...wrongIf(filter.length > 0 && !isMapped(relay), {
      path: `${path}.filter`,
      found: `set for the trigger '${trigger.kind}'`,
      wanted: 'no filter: a schedule has no events',
      fix: 'remove it',
    }),
    ...wrongIf((pollers?.min ?? 1) > (pollers?.max ?? Number.POSITIVE_INFINITY), {
      path: `${path}.pollers.min`,
      found: `${pollers?.min}`,
      wanted: `at most pollers.max (${pollers?.max})`,
      fix: 'lower it',
    }),
  ]
}
