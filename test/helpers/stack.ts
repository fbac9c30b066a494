/** What an integration test asks for. The first to ask waits for the start; all tests of a run share what is started. */
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import type { AwsEndpoint } from '../../lib/local/aws-endpoint.ts'
import type { KafkaVersion } from '../../lib/local/kafka-jars.ts'

export type StackService = `kafka-${KafkaVersion}` | 'dynamodb' | 's3' | 'registry'

export const testBucket = 'fencepost-test'

async function ask(service: StackService): Promise<unknown> {
  const response = await fetch(`${inject('stackUrl')}/${service}`)
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

/** `host:port` of a single broker that all tests share: never stop it; start your own with startKafka for that. */
export async function kafkaBrokers(version: KafkaVersion): Promise<readonly string[]> {
  const { brokers } = (await ask(`kafka-${version}`)) as { brokers: readonly string[] }
  return brokers
}

export async function dynamoDbEndpoint(): Promise<AwsEndpoint> {
  const { endpoint, region, credentials } = (await ask('dynamodb')) as AwsEndpoint
  return { endpoint, region, credentials }
}

/** Has the bucket `testBucket`. */
export async function s3Endpoint(): Promise<AwsEndpoint & { readonly forcePathStyle: true }> {
  const { endpoint, region, credentials } = (await ask('s3')) as AwsEndpoint
  return { endpoint, region, credentials, forcePathStyle: true }
}

/** Of a real schema registry's Confluent API. */
export async function registryUrl(): Promise<string> {
  const { url } = (await ask('registry')) as { url: string }
  return url
}

/** Tests share brokers and tables: names of topics, groups and transactional ids must be their own. */
export const freshName = (prefix: string): string => `${prefix}-${randomBytes(6).toString('hex')}`
