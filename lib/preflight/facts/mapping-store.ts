import type { EventSourceMappingConfiguration, FunctionConfiguration, LambdaClient } from '@aws-sdk/client-lambda'
import { RelayError } from '../../errors.ts'
import { settings } from '../../relay/config/settings.ts'
import { type Told, told, untold } from '../finding.ts'
import type { MappingFacts } from './facts.ts'
import { type AwsPlace, awsRefusal } from './table-store.ts'

/**
 * The Kafka event source mappings of these functions, as the account has them.
 * @throws RelayError CONFIG_INVALID: the Lambda client is not installed, or a function may not be asked for
 */
export async function mappingsOfAccount(
  functions: readonly string[],
  place: AwsPlace,
): Promise<readonly MappingFacts[]> {
  if (functions.length === 0) return []
  const sdk = await import('@aws-sdk/client-lambda').catch((cause) => {
    const message =
      '@aws-sdk/client-lambda is not installed, and functions are to be looked up: npm i -D @aws-sdk/client-lambda'
    throw new RelayError('CONFIG_INVALID', message, { cause })
  })
  const client = new sdk.LambdaClient({ maxAttempts: 2, ...place })
  try {
    return (await Promise.all(functions.map((name) => ofFunction(sdk, client, name)))).flat()
  } finally {
    client.destroy()
  }
}

async function ofFunction(
  sdk: typeof import('@aws-sdk/client-lambda'),
  client: LambdaClient,
  name: string,
): Promise<readonly MappingFacts[]> {
  try {
    const [config, { EventSourceMappings: mappings = [] }] = await Promise.all([
      client.send(new sdk.GetFunctionConfigurationCommand({ FunctionName: name })),
      client.send(new sdk.ListEventSourceMappingsCommand({ FunctionName: name })),
    ])
    return mappings.filter(isKafka).map((mapping) => mappingFacts(mapping, config))
  } catch (cause) {
    const message = `function ${name} cannot be looked up (${awsRefusal(cause)}): correct its name, or allow lambda:GetFunctionConfiguration and ListEventSourceMappings`
    throw new RelayError('CONFIG_INVALID', message, { cause })
  }
}

const isKafka = ({
  Topics,
  AmazonManagedKafkaEventSourceConfig: managed,
  SelfManagedEventSource: own,
}: EventSourceMappingConfiguration) => Topics !== undefined || managed !== undefined || own !== undefined

/** Pure. What the account does not say is Lambda's default, which its guide names. */
export function mappingFacts(mapping: EventSourceMappingConfiguration, ringing: FunctionConfiguration): MappingFacts {
  const config = mapping.SelfManagedKafkaEventSourceConfig ?? mapping.AmazonManagedKafkaEventSourceConfig
  const mode = mapping.SelfManagedKafkaEventSourceConfig
  return {
    name: mapping.UUID ?? 'a mapping',
    topics: mapping.Topics ?? [],
    consumerGroup: orUntold(config?.ConsumerGroupId),
    retriesMax: told(mapping.MaximumRetryAttempts ?? -1),
    recordAgeMaxSeconds: told(mapping.MaximumRecordAgeInSeconds ?? -1),
    bisect: told(mapping.BisectBatchOnFunctionError ?? false),
    onFailure: told(mapping.DestinationConfig?.OnFailure?.Destination ?? null),
    partialFailures: told(mapping.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false),
    consumptionMode: told(modeOf(mode)),
    schemaRegistry: told(config?.SchemaRegistryConfig !== undefined),
    filtered: told((mapping.FilterCriteria?.Filters?.length ?? 0) > 0),
    startingPosition: told(mapping.StartingPosition ?? 'not given'),
    enabled: told(mapping.State !== 'Disabled' && mapping.State !== 'Disabling'),
    functionTimeoutMs: ringing.Timeout === undefined ? untold(notSaid) : told(ringing.Timeout * 1_000),
    functionPartialFailures: told(ringing.Environment?.Variables?.[settings.partialFailures.env] === 'true'),
    functionTransactionTimeoutMs: told(transactionTimeoutOf(ringing)),
  }
}

function transactionTimeoutOf({ Environment: environment }: FunctionConfiguration): number | null {
  const set = environment?.Variables?.[settings.transactionTimeoutMs.env]
  return set === undefined ? null : Number(set)
}

const notSaid = 'Lambda does not say'

const orUntold = (text: string | undefined): Told<string> => (text === undefined ? untold(notSaid) : told(text))

/** Self-managed only; older clients of the SDK do not know it. */
const modeOf = (config: object | undefined): string =>
  config !== undefined && 'ConsumptionMode' in config ? String(config.ConsumptionMode) : 'Stream'
