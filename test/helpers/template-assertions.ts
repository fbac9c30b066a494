/** What must be true of every deployment's template, above all what emulators of AWS do not look at. */
import { type MetricName, metricCatalogue, metricNamespace } from '../../lib/lambda/metric-catalogue.ts'
import { settings } from '../../lib/relay/config/settings.ts'
import { minutes, seconds } from '../../lib/units.ts'

export type Tree = { readonly [name: string]: unknown }

export interface TemplateResource {
  readonly Type: string
  readonly Properties: Tree
  readonly DeletionPolicy?: string
}

/** A function as the template has it, whoever compiled it. */
export interface FunctionFacts {
  readonly key: string
  readonly runtime: unknown
  readonly architecture: unknown
  readonly handler: unknown
  readonly timeoutSeconds: number
  readonly role: unknown
  readonly environment: Tree
  /** Rung by a schedule, and how often an invocation that failed is repeated. */
  readonly schedule: { readonly retries: unknown } | null
}

export interface Deployed {
  readonly resources: Readonly<Record<string, TemplateResource>>
  readonly functions: readonly FunctionFacts[]
}

/** `faults` is empty where all is well. */
export interface Assertion {
  readonly says: string
  faults(deployed: Deployed): readonly string[]
}

type Entry = readonly [id: string, its: TemplateResource]

const ofType = ({ resources }: Deployed, type: string): Entry[] =>
  Object.entries(resources).filter(([, { Type }]) => Type === type)

const mappings = (deployed: Deployed) => ofType(deployed, 'AWS::Lambda::EventSourceMapping')
const isProvisioned = ({ Properties }: TemplateResource): boolean => Properties.ProvisionedPollerConfig !== undefined

/** The ids of those for which it does not hold. */
const unless = (entries: readonly Entry[], holds: (its: TemplateResource) => boolean): string[] =>
  entries.filter(([, its]) => !holds(its)).map(([id]) => id)

const at = (tree: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Tree | undefined)?.[name], tree)

const groupOf = ({ Properties }: TemplateResource): unknown =>
  at(Properties, 'SelfManagedKafkaEventSourceConfig', 'ConsumerGroupId') ??
  at(Properties, 'AmazonManagedKafkaEventSourceConfig', 'ConsumerGroupId')

const repeated = (values: readonly unknown[]): string[] =>
  values.filter((value, index) => values.indexOf(value) !== index).map(String)

const mappingRetrySettings = [
  'FunctionResponseTypes',
  'BisectBatchOnFunctionError',
  'MaximumRetryAttempts',
  'MaximumRecordAgeInSeconds',
  'LoggingConfig',
  'MetricsConfig',
]

const mappingAssertions: readonly Assertion[] = [
  {
    says: 'each mapping reads one topic, and says from where, how many and how long',
    faults: (deployed) =>
      unless(mappings(deployed), ({ Properties: its }) => {
        const topics = its.Topics
        const isWhole = Number.isInteger(its.BatchSize) && Number.isInteger(its.MaximumBatchingWindowInSeconds)
        return Array.isArray(topics) && topics.length === 1 && isWhole && typeof its.StartingPosition === 'string'
      }),
  },
  {
    says: 'no mapping has a destination for failures: it would limit retries to 10',
    faults: (deployed) => unless(mappings(deployed), ({ Properties }) => !('DestinationConfig' in Properties)),
  },
  {
    says: 'no mapping is in Queue mode',
    faults: (deployed) => unless(mappings(deployed), (its) => !JSON.stringify(its).includes('ConsumptionMode')),
  },
  {
    says: 'no mapping decodes records by a schema registry: bells carry bytes',
    faults: (deployed) => unless(mappings(deployed), (its) => !JSON.stringify(its).includes('SchemaRegistryConfig')),
  },
  {
    says: 'settings of retries exist in provisioned mode only',
    faults: (deployed) =>
      unless(mappings(deployed), (its) =>
        mappingRetrySettings.every((name) => name in its.Properties === isProvisioned(its)),
      ),
  },
  {
    says: 'provisioned mappings wait for nothing, retry without end, halve nothing and report lane by lane',
    faults: (deployed) =>
      unless(
        mappings(deployed).filter(([, its]) => isProvisioned(its)),
        ({ Properties: its }) =>
          its.MaximumBatchingWindowInSeconds === 0 &&
          its.MaximumRetryAttempts === -1 &&
          its.MaximumRecordAgeInSeconds === -1 &&
          its.BisectBatchOnFunctionError === false &&
          JSON.stringify(its.FunctionResponseTypes) === '["ReportBatchItemFailures"]',
      ),
  },
  {
    says: 'each mapping has a consumer group of its own, which is no commit group',
    faults: (deployed) => {
      const groups = mappings(deployed).map(([, its]) => groupOf(its))
      return [
        ...repeated(groups),
        ...groups.filter((group) => !/^[\w-]+\.[\w-]+\.bell$/.test(String(group))).map(String),
      ]
    },
  },
  {
    says: 'each mapping rings a function of its own, and is the only one that does',
    faults: (deployed) =>
      repeated(mappings(deployed).map(([, { Properties }]) => JSON.stringify(Properties.FunctionName))),
  },
]

const numberOf = (environment: Tree, { env }: { readonly env: string }): number => Number(environment[env])
const functionFaults = (deployed: Deployed, holds: (one: FunctionFacts) => boolean): string[] =>
  deployed.functions.filter((one) => !holds(one)).map(({ key }) => key)

const known = new Set<string>(Object.values(settings).map(({ env }) => env))
const secretTexts = [settings.saslPassword, settings.tlsKey, settings.tlsKeyPassphrase, settings.registryPassword]

const functionAssertions: readonly Assertion[] = [
  {
    says: 'functions run on Node 24 and arm64, from one module',
    faults: (deployed) =>
      functionFaults(
        deployed,
        ({ runtime, architecture, handler }) =>
          runtime === 'nodejs24.x' && architecture === 'arm64' && handler === 'index.handler',
      ),
  },
  {
    says: 'functions end within 14 minutes, before the broker aborts their transactions, which it does within 15',
    faults: (deployed) =>
      functionFaults(deployed, ({ timeoutSeconds, environment }) => {
        const transactionMs = numberOf(environment, settings.transactionTimeoutMs)
        const timeoutMs = timeoutSeconds * seconds(1)
        return timeoutMs <= minutes(14) && timeoutMs < transactionMs && transactionMs <= minutes(15)
      }),
  },
  {
    says: 'functions have each setting that they must have, and none that they do not know',
    faults: (deployed) =>
      functionFaults(deployed, ({ environment }) => {
        const given = Object.keys(environment).filter((name) => name.startsWith('FENCEPOST_'))
        const isKnown = given.every((name) => known.has(name) || name.startsWith('FENCEPOST_SECRET_'))
        return isKnown && [settings.prefix, settings.brokers, settings.table].every(({ env }) => environment[env])
      }),
  },
  {
    says: 'an invocation by a schedule is not repeated: the next one does its work',
    faults: (deployed) => functionFaults(deployed, ({ schedule }) => schedule === null || schedule.retries === 0),
  },
  {
    says: 'every relay is swept by a schedule',
    faults: (deployed) => functionFaults(deployed, ({ key, schedule }) => !key.endsWith('-sweep') || schedule !== null),
  },
  {
    says: 'no function has a password or a private key in its environment',
    faults: (deployed) =>
      functionFaults(deployed, ({ environment }) => secretTexts.every(({ env }) => !(env in environment))),
  },
  {
    says: 'each function has a role of its own',
    faults: (deployed) => repeated(deployed.functions.map(({ role }) => JSON.stringify(role))),
  },
  {
    says: 'functions that report lane by lane are behind mappings that listen to it, and no others',
    faults: (deployed) => {
      const listening = mappings(deployed)
        .filter(([, its]) => isProvisioned(its))
        .map(([id]) => id.replace('EventSourceMapping', '').toLowerCase())
      const reporting = deployed.functions
        .filter(({ environment }) => environment[settings.partialFailures.env] === 'true')
        .map(({ key }) => key.replaceAll('-', 'dash').replaceAll('_', 'underscore'))
      return [...new Set(listening)]
        .filter((one) => !reporting.includes(one))
        .concat(reporting.filter((one) => !listening.includes(one)))
    },
  },
]

const storeAssertions: readonly Assertion[] = [
  {
    says: 'the fence table is on demand, can be recovered, and is kept where it is protected',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::DynamoDB::Table'), ({ Properties: its, DeletionPolicy }) => {
        const isKept = its.DeletionProtectionEnabled === true
        return (
          its.BillingMode === 'PAY_PER_REQUEST' &&
          at(its, 'PointInTimeRecoverySpecification', 'PointInTimeRecoveryEnabled') === true &&
          DeletionPolicy === (isKept ? 'Retain' : 'Delete')
        )
      }),
  },
  {
    says: 'records of the fence table never expire',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::DynamoDB::Table'), (its) => !('TimeToLiveSpecification' in its.Properties)),
  },
  {
    says: 'the snapshot bucket is private, encrypted, versioned and cleaned',
    faults: (deployed) =>
      unless(snapshotBuckets(deployed), ({ Properties: its }) => {
        const isPrivate = Object.values(its.PublicAccessBlockConfiguration ?? {}).filter((one) => one === true).length
        return (
          isPrivate === 4 &&
          JSON.stringify(its.BucketEncryption).includes('SSEAlgorithm') &&
          at(its, 'VersioningConfiguration', 'Status') === 'Enabled' &&
          JSON.stringify(its.LifecycleConfiguration).includes('NoncurrentVersionExpiration')
        )
      }),
  },
  {
    says: 'every bucket is spoken to over TLS only',
    faults: (deployed) => {
      const guarded = ofType(deployed, 'AWS::S3::BucketPolicy')
        .filter(([, its]) => JSON.stringify(its).includes('"aws:SecureTransport":false'))
        .map(([, { Properties }]) => at(Properties, 'Bucket', 'Ref'))
      return ofType(deployed, 'AWS::S3::Bucket').flatMap(([id]) => (guarded.includes(id) ? [] : [id]))
    },
  },
]

/** The other is the Serverless CLI's own, for code. */
const snapshotBuckets = (deployed: Deployed) =>
  ofType(deployed, 'AWS::S3::Bucket').filter(([id]) => id !== 'ServerlessDeploymentBucket')

const statements = (deployed: Deployed): (readonly [id: string, statement: Tree])[] =>
  ofType(deployed, 'AWS::IAM::Role').flatMap(([id, { Properties }]) => {
    const policies = Properties.Policies as readonly Tree[]
    return policies.flatMap((policy) =>
      (at(policy, 'PolicyDocument', 'Statement') as readonly Tree[]).map((statement) => [id, statement] as const),
    )
  })

const permissionAssertions: readonly Assertion[] = [
  {
    says: 'no role may do everything of a service',
    faults: (deployed) =>
      statements(deployed)
        .filter(([, { Action }]) => [Action].flat().some((action) => String(action).includes('*')))
        .map(([id]) => id),
  },
  {
    says: 'no role may do anything to every resource, network interfaces aside',
    faults: (deployed) =>
      statements(deployed)
        .filter(([, { Action, Resource }]) => {
          const isNetwork = [Action].flat().every((action) => String(action).startsWith('ec2:'))
          return !isNetwork && [Resource].flat().some((resource) => resource === '*')
        })
        .map(([id]) => id),
  },
]

const alarmIds = ['LaneStopped', 'DeadLetters', 'Notice', 'Lag', 'FenceAge', 'Errors', 'Throttles']
const sweepAlarmIds = ['SweepErrors', 'SweepSilent']

const watchAssertions: readonly Assertion[] = [
  {
    says: 'every relay is watched: stopped lanes, dead letters, lag, age, errors, throttles, and the sweep itself',
    faults: (deployed) => {
      const names = ofType(deployed, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => String(Properties.AlarmName))
      const relays = deployed.functions.filter(({ key }) => key.endsWith('-sweep')).map(({ key }) => key.slice(0, -6))
      return relays.flatMap((relay) =>
        [...alarmIds, ...sweepAlarmIds]
          .map((id) => `-${relay}-${id}`)
          .filter((end) => !names.some((name) => name.endsWith(end))),
      )
    },
  },
  {
    says: 'alarms look at metrics that are emitted, within the bounds of CloudWatch',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::CloudWatch::Alarm'), ({ Properties: its }) => {
        const isKnown = its.Namespace !== metricNamespace || String(its.MetricName) in metricCatalogue
        const spanSeconds = Number(its.Period) * Number(its.EvaluationPeriods)
        return isKnown && Number(its.Period) % 60 === 0 && spanSeconds <= minutes(24 * 60) / seconds(1)
      }),
  },
  {
    says: 'silence of the sweep is an alarm, silence of everything else is not',
    faults: (deployed) =>
      unless(ofType(deployed, 'AWS::CloudWatch::Alarm'), ({ Properties: its }) => {
        const wanted = String(its.AlarmName).endsWith('-SweepSilent') ? 'breaching' : 'notBreaching'
        return its.TreatMissingData === wanted
      }),
  },
  {
    says: 'the dashboard is JSON and shows every metric of the catalogue',
    faults: (deployed) =>
      ofType(deployed, 'AWS::CloudWatch::Dashboard').flatMap(([, { Properties }]) => {
        const { widgets } = JSON.parse(String(at(Properties, 'DashboardBody', 'Fn::Sub')))
        const shown = JSON.stringify(widgets)
        return (Object.keys(metricCatalogue) as MetricName[]).filter((name) => !shown.includes(`"${name}"`))
      }),
  },
]

/** In the order in which a template is read. */
export const templateAssertions: readonly Assertion[] = [
  ...mappingAssertions,
  ...functionAssertions,
  ...storeAssertions,
  ...permissionAssertions,
  ...watchAssertions,
]
