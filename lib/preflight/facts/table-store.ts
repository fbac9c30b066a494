import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'
import { type Told, told, untold } from '../finding.ts'
import type { TableFacts } from './facts.ts'

/** Region, endpoint and credentials; each by default as the AWS SDK finds it. */
export type AwsPlace = Pick<DynamoDBClientConfig, 'region' | 'endpoint' | 'credentials'>

const bounds = { maxAttempts: 2, requestHandler: { connectionTimeout: 2_000, requestTimeout: 3_000 } }

/** The fence table as DynamoDB describes it; untold where it does not exist or this role may not ask. */
export async function readTable(name: string, place: AwsPlace): Promise<Told<TableFacts>> {
  const client = new DynamoDBClient({ ...bounds, ...place })
  try {
    const { Table: table } = await client.send(new DescribeTableCommand({ TableName: name }))
    return table === undefined ? untold('DynamoDB does not describe it') : told(await factsOf(client, name, table))
  } catch (error) {
    return untold(awsRefusal(error))
  } finally {
    client.destroy()
  }
}

async function factsOf(client: DynamoDBClient, name: string, table: TableDescription): Promise<TableFacts> {
  const types = new Map(
    table.AttributeDefinitions?.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
  )
  const key = table.KeySchema?.map(({ AttributeName }) => `${AttributeName} (${types.get(AttributeName)})`) ?? []
  const billing = billingOf(table)
  const isProtected = table.DeletionProtectionEnabled
  return {
    name,
    key: key.join(', '),
    status: table.TableStatus ?? 'unknown',
    billing: billing === null ? untold(notSaid) : told(billing),
    restorable: await restorable(client, name),
    deletionProtected: isProtected === undefined ? untold(notSaid) : told(isProtected),
  }
}

const notSaid = 'DynamoDB does not say'

/** A table that was never on-demand has no summary, but a capacity. */
function billingOf({ BillingModeSummary: summary, ProvisionedThroughput: capacity }: TableDescription): string | null {
  if (summary?.BillingMode !== undefined) return summary.BillingMode
  return (capacity?.ReadCapacityUnits ?? 0) > 0 ? 'PROVISIONED' : null
}

/** Emulators do not know the question. */
async function restorable(client: DynamoDBClient, name: string): Promise<Told<boolean>> {
  try {
    const { ContinuousBackupsDescription: found } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName: name }),
    )
    return told(found?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED')
  } catch (error) {
    return untold(`DescribeContinuousBackups: ${awsRefusal(error)}`)
  }
}

/** The name of an AWS error says what it is; some come without a message (answers to HEAD). */
export function awsRefusal(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { name, message } = error
  return message === '' || message === 'UnknownError' ? name : `${name}: ${message}`
}
