import { settings } from '../../relay/config/settings.ts'
import { minutes } from '../../units.ts'
import { type Told, told, untold } from '../finding.ts'
import type { MappingFacts } from './facts.ts'

/** CloudFormation, as far as it is looked at. */
interface Resource {
  readonly Type?: string
  readonly Properties?: Readonly<Record<string, unknown>>
}

const computed = 'computed when it is deployed'
const partialFailures = settings.partialFailures.env
const transactionTimeout = settings.transactionTimeoutMs.env
const mappingType = 'AWS::Lambda::EventSourceMapping'
const functionTypes = ['AWS::Lambda::Function', 'AWS::Serverless::Function']
/** CloudFormation's default, in seconds. */
const timeoutDefault = 3

/** The Kafka event source mappings of a packaged template (JSON), with the functions they ring. */
export function mappingsOfTemplate(template: unknown): readonly MappingFacts[] {
  const resources = resourcesOf(template)
  return Object.entries(resources)
    .filter(([, { Type, Properties }]) => Type === mappingType && isKafka(Properties ?? {}))
    .map(([name, { Properties }]) => mappingOf(name, Properties ?? {}, functionOf(resources, Properties?.FunctionName)))
}

function resourcesOf(template: unknown): Readonly<Record<string, Resource>> {
  const found = isObject(template) ? template.Resources : undefined
  return isObject(found) ? (found as Record<string, Resource>) : {}
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isKafka = (properties: Readonly<Record<string, unknown>>): boolean =>
  properties.Topics !== undefined ||
  properties.SelfManagedEventSource !== undefined ||
  properties.AmazonManagedKafkaEventSourceConfig !== undefined

/** The function that a mapping names: by reference to a resource of the template, or to an alias or version of one. */
function functionOf(resources: Readonly<Record<string, Resource>>, reference: unknown): Resource | undefined {
  for (const id of referencesIn(reference)) {
    const resource = resources[id]
    if (resource?.Type && functionTypes.includes(resource.Type)) return resource
    if (resource) return functionOf(resources, resource.Properties?.FunctionName)
  }
  return undefined
}

/** Logical ids in `Ref`, `Fn::GetAtt` and what is built of them. */
function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isObject(value)) return []
  const { Ref: ref, 'Fn::GetAtt': attribute, ...rest } = value
  const own = typeof ref === 'string' ? [ref] : []
  const ofAttribute = Array.isArray(attribute) ? attribute.slice(0, 1) : [String(attribute ?? '').split('.')[0]]
  return [
    ...own,
    ...ofAttribute.filter((id) => typeof id === 'string' && id !== ''),
    ...referencesIn(Object.values(rest)),
  ]
}

function mappingOf(
  name: string,
  properties: Readonly<Record<string, unknown>>,
  ringing: Resource | undefined,
): MappingFacts {
  const config =
    at(properties, 'SelfManagedKafkaEventSourceConfig') ?? at(properties, 'AmazonManagedKafkaEventSourceConfig')
  const responses = properties.FunctionResponseTypes
  return {
    name,
    topics: Array.isArray(properties.Topics) ? properties.Topics.map(String) : [],
    consumerGroup: textAt(config, 'ConsumerGroupId', null),
    retriesMax: numberAt(properties, 'MaximumRetryAttempts', -1),
    recordAgeMaxSeconds: numberAt(properties, 'MaximumRecordAgeInSeconds', -1),
    bisect: flagAt(properties, 'BisectBatchOnFunctionError', false),
    onFailure: destinationOf(properties.DestinationConfig),
    partialFailures: told(Array.isArray(responses) && responses.includes('ReportBatchItemFailures')),
    consumptionMode: textAt(config, 'ConsumptionMode', 'Stream'),
    schemaRegistry: told(at(config, 'SchemaRegistryConfig') !== undefined),
    filtered: told(properties.FilterCriteria !== undefined),
    startingPosition: textAt(properties, 'StartingPosition', 'not given'),
    enabled: flagAt(properties, 'Enabled', true),
    functionTimeoutMs: timeoutOf(ringing),
    functionPartialFailures: believedBy(ringing),
    functionTransactionTimeoutMs: transactionTimeoutOf(ringing),
  }
}

const at = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

function numberAt(value: unknown, key: string, byDefault: number): Told<number> {
  const found = at(value, key) ?? byDefault
  return typeof found === 'object' || Number.isNaN(Number(found)) ? untold(computed) : told(Number(found))
}

function flagAt(value: unknown, key: string, byDefault: boolean): Told<boolean> {
  const found = at(value, key) ?? byDefault
  return typeof found === 'object' ? untold(computed) : told(String(found) === 'true')
}

function textAt(value: unknown, key: string, byDefault: string | null): Told<string> {
  const found = at(value, key) ?? byDefault
  if (found === null) return told('one that Lambda makes up')
  return typeof found === 'object' ? untold(computed) : told(String(found))
}

function destinationOf(config: unknown): Told<string | null> {
  const destination = at(at(config, 'OnFailure'), 'Destination')
  if (destination === undefined) return told(null)
  return told(typeof destination === 'string' ? destination : JSON.stringify(destination))
}

const noFunction = 'its function is not in the template'

function timeoutOf(ringing: Resource | undefined): Told<number> {
  if (ringing === undefined) return untold(noFunction)
  const seconds = numberAt(ringing.Properties, 'Timeout', timeoutDefault)
  return seconds.told ? told(seconds.value * 1_000) : seconds
}

const variablesOf = (ringing: Resource): unknown => at(at(ringing.Properties, 'Environment'), 'Variables')

function transactionTimeoutOf(ringing: Resource | undefined): Told<number | null> {
  if (ringing === undefined) return untold(noFunction)
  const variables = variablesOf(ringing)
  return at(variables, transactionTimeout) === undefined ? told(null) : numberAt(variables, transactionTimeout, 0)
}

function believedBy(ringing: Resource | undefined): Told<boolean> {
  if (ringing === undefined) return untold(noFunction)
  return flagAt(variablesOf(ringing), partialFailures, false)
}

/** How often the schedules of a template ring their sweeps, the slowest; null: none is seen in it. */
export function sweepEveryMsOf(template: unknown): number | null {
  const resources = resourcesOf(template)
  const rates = Object.values(resources).flatMap(({ Properties: properties = {} }) => {
    const everyMs = rateMs(properties.ScheduleExpression)
    const targets = [properties.Targets, properties.Target].flatMap((target) => functionOf(resources, target) ?? [])
    return everyMs !== null && targets.some(isSweep) ? [everyMs] : []
  })
  return rates.length === 0 ? null : Math.max(...rates)
}

const isSweep = ({ Properties: properties }: Resource): boolean =>
  /sweep$/i.test(String(properties?.FunctionName ?? ''))

/** `rate(15 minutes)`; those by cron are not judged. */
function rateMs(expression: unknown): number | null {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(String(expression)) ?? []
  return count === undefined || unit === undefined ? null : Number(count) * minutes(minutesOf[unit] ?? 0)
}

const minutesOf: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1_440 }
