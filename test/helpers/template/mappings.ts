import { type Assertion, at, type Deployed, ofType, repeated, type TemplateResource, unless } from './deployed.ts'

export const mappings = (deployed: Deployed) => ofType(deployed, 'AWS::Lambda::EventSourceMapping')
export const isProvisioned = ({ Properties }: TemplateResource): boolean =>
  Properties.ProvisionedPollerConfig !== undefined

const groupOf = ({ Properties }: TemplateResource): unknown =>
  at(Properties, 'SelfManagedKafkaEventSourceConfig', 'ConsumerGroupId') ??
  at(Properties, 'AmazonManagedKafkaEventSourceConfig', 'ConsumerGroupId')

const mappingRetrySettings = [
  'FunctionResponseTypes',
  'BisectBatchOnFunctionError',
  'MaximumRetryAttempts',
  'MaximumRecordAgeInSeconds',
  'LoggingConfig',
  'MetricsConfig',
]

export const mappingAssertions: readonly Assertion[] = [
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
