import { attribute, functionId, idPart, type Resources, type Value } from '../cloudformation.ts'
import type { DeploymentPlan, RelayPlan } from '../plan.ts'
import type { Auth } from '../settings.ts'
import { bootstrapServers } from './brokers.ts'

const mappingId = (relay: RelayPlan): string => `${idPart(relay.facts.name)}EventSourceMapping`

/**
 * The mapping that rings for a relay; none for one on a schedule. Written out because the `kafka` and `msk` events of the
 * Serverless CLI lack most of it, drop a batching window of 0, and merge the topics `orders.v1` and `orders-v1` into one.
 *
 * Nothing here may drop a bell: no destination for failures (it would limit retries to 10), and where retries have
 * settings at all, which is in provisioned mode only, they are endless. Queue mode, which has no order, is not asked for.
 * Sources: AWS Lambda guide, "Kafka retry configurations", "Kafka event poller scaling modes", "Kafka ESM logging".
 */
export function eventSourceMapping(plan: DeploymentPlan, relay: RelayPlan): Resources {
  const { trigger } = relay
  if (trigger.kind !== 'events' && trigger.kind !== 'provisioned') return {}
  const [bell] = relay.functions
  if (!bell) return {}
  return {
    [mappingId(relay)]: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        FunctionName: attribute(functionId(bell.key), 'Arn'),
        Enabled: true,
        Topics: [relay.facts.sourceTopic],
        StartingPosition: relay.startingPosition,
        BatchSize: relay.batchSize,
        MaximumBatchingWindowInSeconds: trigger.batchingWindowSeconds,
        ...cluster(plan, relay),
        ...(relay.filter.length > 0 && {
          FilterCriteria: { Filters: relay.filter.map((pattern) => ({ Pattern: JSON.stringify(pattern) })) },
        }),
        ...(trigger.kind === 'provisioned' && provisionedOnly(trigger.pollers)),
      },
    },
  }
}

function provisionedOnly({ min, max, group }: { min: number; max: number; group?: string | undefined }) {
  return {
    ProvisionedPollerConfig: {
      MinimumPollers: min,
      MaximumPollers: max,
      ...(group !== undefined && { PollerGroupName: group }),
    },
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    BisectBatchOnFunctionError: false,
    MaximumRetryAttempts: -1,
    MaximumRecordAgeInSeconds: -1,
    LoggingConfig: { SystemLogLevel: 'WARN' },
    MetricsConfig: { Metrics: ['EventCount', 'ErrorCount', 'KafkaMetrics'] },
  }
}

function cluster(plan: DeploymentPlan, relay: RelayPlan): Readonly<Record<string, Value>> {
  const access = accessConfigurations(plan)
  const configurations = access.length > 0 ? { SourceAccessConfigurations: access } : {}
  const group = { ConsumerGroupId: relay.bellGroup }
  if (plan.msk !== undefined) {
    return { EventSourceArn: plan.msk, AmazonManagedKafkaEventSourceConfig: group, ...configurations }
  }
  return {
    SelfManagedEventSource: { Endpoints: { KafkaBootstrapServers: bootstrapServers(plan) } },
    SelfManagedKafkaEventSourceConfig: group,
    ...configurations,
  }
}

type AccessConfiguration = Readonly<Record<'Type' | 'URI', string>>

/** A mapping to MSK takes network and authorities from the cluster. */
export function accessConfigurations({ auth, privateCa, vpc, msk }: DeploymentPlan): AccessConfiguration[] {
  const network =
    msk === undefined && vpc !== undefined
      ? [
          ...vpc.subnetIds.map((id) => ({ Type: 'VPC_SUBNET', URI: `subnet:${id}` })),
          ...vpc.securityGroupIds.map((id) => ({ Type: 'VPC_SECURITY_GROUP', URI: `security_group:${id}` })),
        ]
      : []
  return [
    ...loginConfiguration(auth),
    ...(privateCa === undefined || msk !== undefined ? [] : [{ Type: 'SERVER_ROOT_CA_CERTIFICATE', URI: privateCa }]),
    ...network,
  ]
}

/** MSK IAM needs none: the mapping uses the role of the function. */
function loginConfiguration(auth: Auth | undefined): AccessConfiguration[] {
  if (auth === undefined || 'iam' in auth) return []
  if ('scram512' in auth) return [{ Type: 'SASL_SCRAM_512_AUTH', URI: auth.scram512 }]
  if ('scram256' in auth) return [{ Type: 'SASL_SCRAM_256_AUTH', URI: auth.scram256 }]
  if ('plain' in auth) return [{ Type: 'BASIC_AUTH', URI: auth.plain }]
  return [{ Type: 'CLIENT_CERTIFICATE_TLS_AUTH', URI: auth.mtls }]
}
