import { describe, expect, test } from 'vitest'
import type { MappingFacts } from '../../../lib/preflight/facts/facts.ts'
import { mappingFacts } from '../../../lib/preflight/facts/mapping-store.ts'
import { mappingsOfTemplate, sweepEveryMsOf } from '../../../lib/preflight/facts/template.ts'
import { told, untold } from '../../../lib/preflight/finding.ts'
import { days, hours, minutes } from '../../../lib/units.ts'

const environment = { FENCEPOST_PARTIAL_FAILURES: 'true', FENCEPOST_TRANSACTION_TIMEOUT_MS: '360000' }

const relayFunction = {
  Type: 'AWS::Lambda::Function',
  Properties: { Timeout: 300, Environment: { Variables: environment } },
}

const selfManaged = {
  FunctionName: { 'Fn::GetAtt': ['OrdersFunction', 'Arn'] },
  SelfManagedEventSource: { Endpoints: { KafkaBootstrapServers: ['b-1:9092'] } },
  SelfManagedKafkaEventSourceConfig: { ConsumerGroupId: 'shop.orders.bell' },
  Topics: ['orders.v1'],
  StartingPosition: 'TRIM_HORIZON',
}

const template = (mapping: object, others: object = {}) => ({
  Resources: {
    OrdersFunction: relayFunction,
    OrdersMapping: { Type: 'AWS::Lambda::EventSourceMapping', Properties: mapping },
    Queue: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { EventSourceArn: 'arn:aws:sqs:x' } },
    ...others,
  },
})

function only(found: readonly MappingFacts[]): MappingFacts {
  const [first, ...others] = found
  if (first === undefined || others.length > 0) throw new Error(`${found.length} mappings`)
  return first
}

const sound: MappingFacts = {
  name: 'OrdersMapping',
  topics: ['orders.v1'],
  consumerGroup: told('shop.orders.bell'),
  retriesMax: told(-1),
  recordAgeMaxSeconds: told(-1),
  bisect: told(false),
  onFailure: told(null),
  partialFailures: told(false),
  consumptionMode: told('Stream'),
  schemaRegistry: told(false),
  filtered: told(false),
  startingPosition: told('TRIM_HORIZON'),
  enabled: told(true),
  functionTimeoutMs: told(300_000),
  functionPartialFailures: told(true),
  functionTransactionTimeoutMs: told(360_000),
}

describe('a packaged template', () => {
  test("gives its Kafka mappings with Lambda's defaults for what they leave out, and their functions", () => {
    expect(mappingsOfTemplate(template(selfManaged))).toEqual([sound])
  })

  test('every setting that can drop a bell is read', () => {
    const all = {
      ...selfManaged,
      SelfManagedKafkaEventSourceConfig: {
        ConsumerGroupId: 'g',
        ConsumptionMode: 'Queue',
        SchemaRegistryConfig: { SchemaRegistryURI: 'https://r' },
      },
      MaximumRetryAttempts: 5,
      MaximumRecordAgeInSeconds: 3600,
      BisectBatchOnFunctionError: true,
      DestinationConfig: { OnFailure: { Destination: 'arn:aws:sqs:q' } },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      FilterCriteria: { Filters: [{ Pattern: '{}' }] },
      StartingPosition: 'LATEST',
      Enabled: false,
    }
    expect(only(mappingsOfTemplate(template(all)))).toEqual({
      ...sound,
      consumerGroup: told('g'),
      retriesMax: told(5),
      recordAgeMaxSeconds: told(3600),
      bisect: told(true),
      onFailure: told('arn:aws:sqs:q'),
      partialFailures: told(true),
      consumptionMode: told('Queue'),
      schemaRegistry: told(true),
      filtered: told(true),
      startingPosition: told('LATEST'),
      enabled: told(false),
    })
  })

  test('MSK mappings count, and a function behind an alias is found', () => {
    const { SelfManagedEventSource: _, SelfManagedKafkaEventSourceConfig: config, ...rest } = selfManaged
    const managed = { ...rest, FunctionName: { Ref: 'Alias' }, AmazonManagedKafkaEventSourceConfig: config }
    const alias = { Type: 'AWS::Lambda::Alias', Properties: { FunctionName: { Ref: 'OrdersFunction' } } }
    expect(only(mappingsOfTemplate(template(managed, { Alias: alias })))).toEqual(sound)
  })

  test('what is computed at the deployment is not known, and so is a function of another stack', () => {
    const computed = 'computed when it is deployed'
    const found = only(
      mappingsOfTemplate(
        template({
          ...selfManaged,
          FunctionName: 'arn:elsewhere',
          MaximumRetryAttempts: { Ref: 'Retries' },
          Enabled: { 'Fn::If': ['IsProd', true, false] },
          DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['Q', 'Arn'] } } },
        }),
      ),
    )
    expect(found.retriesMax).toEqual(untold(computed))
    expect(found.enabled).toEqual(untold(computed))
    expect(found.onFailure).toEqual(told('{"Fn::GetAtt":["Q","Arn"]}'))
    expect(found.functionTimeoutMs).toEqual(untold('its function is not in the template'))
  })

  test.each([[null], [{}], [{ Resources: [] }], ['text']])('%j has no mappings', (nothing) => {
    expect(mappingsOfTemplate(nothing)).toEqual([])
  })
})

describe('the sweep of a packaged template', () => {
  const sweepFunction = { Type: 'AWS::Lambda::Function', Properties: { FunctionName: 'shop-orders-sweep' } }
  const rule = (expression: string, id = 'SweepFunction') => ({
    Type: 'AWS::Events::Rule',
    Properties: { ScheduleExpression: expression, Targets: [{ Arn: { 'Fn::GetAtt': [id, 'Arn'] }, Id: 's' }] },
  })
  const every = (others: object) => sweepEveryMsOf(template(selfManaged, { SweepFunction: sweepFunction, ...others }))

  test('rings as its schedule says, the slowest of several', () => {
    expect(every({ R: rule('rate(15 minutes)') })).toBe(minutes(15))
    expect(every({ R: rule('rate(15 minutes)'), S: rule('rate(1 hour)') })).toBe(hours(1))
    const schedule = { ScheduleExpression: 'rate(1 day)', Target: { Arn: { 'Fn::GetAtt': ['SweepFunction', 'Arn'] } } }
    expect(every({ R: { Type: 'AWS::Scheduler::Schedule', Properties: schedule } })).toBe(days(1))
  })

  test('is not known without one, or with one by cron, or of another function', () => {
    expect(every({})).toBeNull()
    expect(every({ R: rule('cron(0 12 * * ? *)') })).toBeNull()
    expect(every({ R: rule('rate(1 minute)', 'OrdersFunction') })).toBeNull()
  })
})

describe('a mapping of the account', () => {
  const ringing = { Timeout: 300, Environment: { Variables: environment } }

  test('is read as one of a template is', () => {
    const found = {
      UUID: 'OrdersMapping',
      Topics: ['orders.v1'],
      StartingPosition: 'TRIM_HORIZON' as const,
      State: 'Enabled',
      SelfManagedKafkaEventSourceConfig: { ConsumerGroupId: 'shop.orders.bell' },
    }
    expect(mappingFacts(found, ringing)).toEqual(sound)
  })

  test('every setting that can drop a bell is read', () => {
    const found = {
      UUID: 'm',
      Topics: ['orders.v1'],
      State: 'Disabled',
      MaximumRetryAttempts: 2,
      MaximumRecordAgeInSeconds: 60,
      BisectBatchOnFunctionError: true,
      DestinationConfig: { OnFailure: { Destination: 'arn' } },
      FunctionResponseTypes: ['ReportBatchItemFailures' as const],
      FilterCriteria: { Filters: [{ Pattern: '{}' }] },
      SelfManagedKafkaEventSourceConfig: { ConsumptionMode: 'Queue' as const, SchemaRegistryConfig: {} },
    }
    expect(mappingFacts(found, {})).toMatchObject({
      retriesMax: told(2),
      recordAgeMaxSeconds: told(60),
      bisect: told(true),
      onFailure: told('arn'),
      partialFailures: told(true),
      consumptionMode: told('Queue'),
      schemaRegistry: told(true),
      filtered: told(true),
      enabled: told(false),
      consumerGroup: untold('Lambda does not say'),
      functionTimeoutMs: untold('Lambda does not say'),
      functionPartialFailures: told(false),
      functionTransactionTimeoutMs: told(null),
    })
  })
})
