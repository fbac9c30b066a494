import { describe, expect, test } from 'vitest'
import { deployedOf, planOf } from '../../helpers/deployment-plans.ts'
import type { Deployed } from '../../helpers/template/deployed.ts'
import { templateAssertions } from '../../helpers/template-assertions.ts'

const msk = 'arn:aws:kafka:eu-central-1:123456789012:cluster/shop/11111111-2222-3333-4444-555555555555-1'
const secret = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:kafka-AbCdEf'
const vpc = { subnetIds: ['subnet-1', 'subnet-2'], securityGroupIds: ['sg-1'] }
const everyTrigger = {
  quick: { latency: '100ms' },
  lingering: { latency: '2s' },
  delays: { latency: '5s' },
  slow: { latency: '10m' },
}

const deployments = {
  'a cluster of our own': planOf({ relays: everyTrigger, snapshots: true }),
  'a stage for trying out': planOf({ relays: everyTrigger, snapshots: true, protect: false }),
  'brokers kept in SSM, SCRAM and a private CA': planOf({
    relays: everyTrigger,
    brokers: { ssm: '/shop/brokers' },
    auth: { scram512: secret },
    privateCa: secret,
    vpc,
  }),
  'MSK with IAM': planOf({ relays: everyTrigger, msk, vpc, auth: { iam: true } }),
  'MSK with mutual TLS': planOf({ relays: everyTrigger, msk, vpc, auth: { mtls: secret } }),
}

describe.each(Object.entries(deployments))('the template for %s', (_, plan) => {
  test.each(templateAssertions.map(({ says, faults }) => [says, faults] as const))('%s', (_, faults) => {
    expect(faults(deployedOf(plan))).toEqual([])
  })
})

/** Each puts one fault into a template that is right; the assertion named beside it must find it, and only that one. */
type Mutable = { [name: string]: Mutable & unknown }
const planted: readonly [says: RegExp, plant: (deployed: Mutable) => void][] = [
  [/reads one topic/, ({ resources }) => push(of(resources, 'DelaysEventSourceMapping').Topics, 'other')],
  [
    /destination for failures/,
    ({ resources }) => set(of(resources, 'DelaysEventSourceMapping'), 'DestinationConfig', {}),
  ],
  [
    /Queue mode/,
    ({ resources }) =>
      set(of(resources, 'DelaysEventSourceMapping'), 'SelfManagedKafkaEventSourceConfig', {
        ConsumerGroupId: 'shop-prod.delays.bell',
        ConsumptionMode: 'Queue',
      }),
  ],
  [
    /schema registry/,
    ({ resources }) =>
      set(of(resources, 'DelaysEventSourceMapping'), 'SelfManagedKafkaEventSourceConfig', {
        ConsumerGroupId: 'shop-prod.delays.bell',
        SchemaRegistryConfig: {},
      }),
  ],
  [
    /provisioned mode only/,
    ({ resources }) => set(of(resources, 'DelaysEventSourceMapping'), 'MaximumRetryAttempts', -1),
  ],
  [/retry without end/, ({ resources }) => set(of(resources, 'QuickEventSourceMapping'), 'MaximumRetryAttempts', 3)],
  [
    /no commit group/,
    ({ resources }) =>
      set(of(resources, 'DelaysEventSourceMapping'), 'SelfManagedKafkaEventSourceConfig', {
        ConsumerGroupId: 'shop-prod.delays',
      }),
  ],
  [
    /the only one that does/,
    ({ resources }) =>
      set(
        of(resources, 'DelaysEventSourceMapping'),
        'FunctionName',
        of(resources, 'QuickEventSourceMapping').FunctionName,
      ),
  ],
  [/Node 24 and arm64/, (deployed) => set(first(deployed), 'architecture', 'x86_64')],
  [/within 14 minutes/, (deployed) => set(first(deployed), 'timeoutSeconds', 841)],
  [/none that they do not know/, (deployed) => set(environment(deployed), 'FENCEPOST_TABEL', 'x')],
  [/is not repeated/, (deployed) => set(last(deployed), 'schedule', { retries: 2 })],
  [/is swept by a schedule/, (deployed) => set(sweepOf(deployed), 'schedule', null)],
  [/password or a private key/, (deployed) => set(environment(deployed), 'FENCEPOST_SASL_PASSWORD', 'x')],
  [/a role of its own/, (deployed) => set(first(deployed), 'role', last(deployed).role)],
  [/listen to it, and no others/, (deployed) => set(environment(deployed), 'FENCEPOST_PARTIAL_FAILURES', 'false')],
  [
    /on demand, can be recovered/,
    ({ resources }) => set(of(resources, 'FenceTable'), 'DeletionProtectionEnabled', false),
  ],
  [/never expire/, ({ resources }) => set(of(resources, 'FenceTable'), 'TimeToLiveSpecification', {})],
  [/private, encrypted/, ({ resources }) => set(of(resources, 'SnapshotBucket'), 'VersioningConfiguration', {})],
  [/TLS only/, ({ resources }) => set(of(resources, 'SnapshotBucketPolicy'), 'PolicyDocument', {})],
  [
    /everything of a service/,
    ({ resources }) => allow(of(resources, 'DelaysRole'), 'dynamodb:*', 'arn:aws:dynamodb:a'),
  ],
  [/to every resource/, ({ resources }) => allow(of(resources, 'DelaysRole'), 's3:GetObject', '*')],
  [/every relay is watched/, ({ resources }) => set(of(resources, 'DelaysAlarmLag'), 'AlarmName', 'gone')],
  [/metrics that are emitted/, ({ resources }) => set(of(resources, 'DelaysAlarmLag'), 'MetricName', 'Lags')],
  [
    /silence of the sweep/,
    ({ resources }) => set(of(resources, 'DelaysAlarmSweepSilent'), 'TreatMissingData', 'ignore'),
  ],
  [
    /every metric of the catalogue/,
    ({ resources }) => set(of(resources, 'Dashboard'), 'DashboardBody', { 'Fn::Sub': '{"widgets":[]}' }),
  ],
]

const as = (value: unknown): Mutable => value as Mutable
const of = (resources: unknown, id: string): Mutable => as(as(as(resources)[id]).Properties)
const functionsOf = (deployed: Mutable): Mutable[] => deployed.functions as unknown as Mutable[]
const first = (deployed: Mutable): Mutable => as(functionsOf(deployed)[0])
const last = (deployed: Mutable): Mutable => as(functionsOf(deployed).at(-1))
const sweepOf = (deployed: Mutable): Mutable => as(functionsOf(deployed)[1])
const environment = (deployed: Mutable): Mutable => as(first(deployed).environment)
const set = (target: Mutable, name: string, value: unknown): void => void Object.assign(target, { [name]: value })
const push = (list: unknown, item: string): void => void (list as string[]).push(item)
const allow = (role: Mutable, Action: string, Resource: string): void => {
  const [policy] = role.Policies as unknown as Mutable[]
  ;(as(policy?.PolicyDocument).Statement as unknown as unknown[]).push({
    Effect: 'Allow',
    Action: [Action],
    Resource: [Resource],
  })
}

describe('each assertion finds the fault that it is for', () => {
  test.each(planted)('%s', (says, plant) => {
    const deployed: Deployed = structuredClone(deployedOf(deployments['a cluster of our own']))
    plant(as(deployed))
    const found = templateAssertions.filter((assertion) => assertion.faults(deployed).length > 0)
    expect(found.map((assertion) => assertion.says).filter((text) => says.test(text))).toHaveLength(1)
    expect(found).toHaveLength(1)
  })

  test('and every assertion has one', () => {
    const without = templateAssertions.filter(({ says }) => !planted.some(([pattern]) => pattern.test(says)))
    expect(without.map(({ says }) => says)).toEqual([])
  })
})
