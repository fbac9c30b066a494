import { settings } from '../../lib/relay/config/settings.ts'
import { ref, type Value } from '../cloudformation.ts'
import type { DeploymentPlan, FunctionPlan, RelayPlan } from '../plan.ts'
import type { Auth } from '../settings.ts'
import { brokerList } from './brokers.ts'
import { fenceTableId } from './fence-table.ts'

/** The settings of a function (docs/reference/settings.md); what the relay's own `environment` says comes last. */
export function functionEnvironment(
  plan: DeploymentPlan,
  relay: RelayPlan,
  { entry, transactionTimeoutMs }: FunctionPlan,
): Readonly<Record<string, Value>> {
  return {
    [settings.prefix.env]: plan.prefix,
    [settings.brokers.env]: brokerList(plan),
    [settings.table.env]: ref(fenceTableId),
    [settings.generation.env]: String(plan.generation),
    [settings.transactionTimeoutMs.env]: String(transactionTimeoutMs),
    ...(entry === 'pull' && { [settings.linger.env]: String(relay.trigger.kind === 'linger') }),
    ...(entry === 'relay' && { [settings.partialFailures.env]: String(relay.trigger.kind === 'provisioned') }),
    ...(plan.acceptWeakTopics && { [settings.acceptWeakTopics.env]: 'true' }),
    ...securityEnvironment(plan),
    ...relay.environment,
  }
}

/** Secrets are named, never copied: a function reads them itself, and again when they have been rotated. */
function securityEnvironment({ auth, privateCa }: DeploymentPlan): Readonly<Record<string, string>> {
  if (auth === undefined && privateCa === undefined) return {}
  return {
    [settings.tls.env]: 'true',
    ...(privateCa !== undefined && { [settings.tlsCaSecret.env]: privateCa }),
    ...(auth !== undefined && loginEnvironment(auth)),
  }
}

function loginEnvironment(auth: Auth): Readonly<Record<string, string>> {
  const login = (mechanism: string, secret: string) => ({
    [settings.saslMechanism.env]: mechanism,
    [settings.saslSecret.env]: secret,
  })
  if ('scram512' in auth) return login('scram-sha-512', auth.scram512)
  if ('scram256' in auth) return login('scram-sha-256', auth.scram256)
  if ('plain' in auth) return login('plain', auth.plain)
  if ('mtls' in auth) return { [settings.tlsClientSecret.env]: auth.mtls }
  return { [settings.saslMechanism.env]: 'aws-msk-iam' }
}
