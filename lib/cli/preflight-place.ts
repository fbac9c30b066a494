import { RelayError } from '../errors.ts'
import type { KafkaConnectionConfig } from '../kafka/connection-config.ts'
import { findRunningStack, type RunningStack } from '../local/dev/running-stack.ts'
import type { AwsPlace } from '../preflight/facts/table-store.ts'
import { parseDeploymentConfig } from '../relay/config/config.ts'
import { secured } from '../relay/connect-deployment.ts'
import { environmentOf } from './deployment.ts'
import type { SecurityOptions } from './security-options.ts'

/** What says where a deployment is. */
export interface PlaceOptions extends SecurityOptions {
  readonly relay?: readonly string[]
  readonly prefix?: string
  readonly brokers?: readonly string[]
  readonly table?: string
  readonly bucket?: string
  readonly acceptWeakTopics?: boolean
  readonly dir: string
}

/** Where the deployment is, whether it is known from an environment or from a stack that runs here. */
export interface Place {
  readonly prefix: string
  readonly kafka: KafkaConnectionConfig
  readonly table: string
  readonly dynamoDb: AwsPlace
  readonly s3: AwsPlace
  readonly bucket: string | null
  readonly relays: readonly string[]
  readonly transactionTimeoutMs: number
  readonly weakTopicsAccepted: boolean
  readonly localStores: boolean
}

/** @throws RelayError CONFIG_INVALID naming all that is missing */
export async function placeOf(options: PlaceOptions): Promise<Place> {
  const saysWhere = options.brokers !== undefined || Boolean(process.env.FENCEPOST_BROKERS)
  const stack = saysWhere ? null : await findRunningStack(options.dir)
  return stack ? placeOfStack(stack, options) : placeOfEnvironment(options)
}

function placeOfStack(stack: RunningStack, { relay, prefix, acceptWeakTopics = false }: PlaceOptions): Place {
  const { region, credentials, table, bucket, transactionTimeoutMs, ownBrokers } = stack
  return {
    prefix: prefix ?? stack.prefix,
    kafka: { clientId: 'fencepost-preflight', brokers: stack.brokers },
    table,
    dynamoDb: { endpoint: stack.dynamoDb, region, credentials },
    s3: { endpoint: stack.s3, region, credentials },
    bucket,
    relays: relay ?? stack.relays,
    transactionTimeoutMs,
    weakTopicsAccepted: acceptWeakTopics || ownBrokers,
    localStores: true,
  }
}

/** @throws RelayError CONFIG_INVALID naming all that is missing */
function placeOfEnvironment(options: PlaceOptions): Place {
  const { relay = [], bucket = null, acceptWeakTopics = false } = options
  const config = parseDeploymentConfig(environmentOf(options))
  const { table, tableEndpoint, prefix, transactionTimeoutMs } = config
  if (relay.length === 0) {
    throw new RelayError('CONFIG_INVALID', 'no relay is given: name its module with --relay, as in relays/delays.ts')
  }
  return {
    prefix,
    kafka: secured(config),
    table,
    dynamoDb: tableEndpoint === undefined ? {} : { endpoint: tableEndpoint },
    s3: {},
    bucket,
    relays: relay,
    transactionTimeoutMs,
    weakTopicsAccepted: acceptWeakTopics || (config.acceptWeakTopics ?? false),
    localStores: false,
  }
}

/** As a fence store takes it. */
export function storePlace({ endpoint, region, credentials }: AwsPlace) {
  return {
    ...(typeof endpoint === 'string' && { endpoint }),
    ...(typeof region === 'string' && { region }),
    ...(typeof credentials === 'object' && { credentials }),
  }
}
