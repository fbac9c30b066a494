import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDbFenceStoreConfig } from './dynamodb-fence-store.ts'

/** Makes the fence table and waits until it serves. For the local stack and tests: in an account, CloudFormation owns it. */
export async function ensureFenceTable({ table, ...client }: DynamoDbFenceStoreConfig): Promise<void> {
  const dynamodb = new DynamoDBClient(client)
  try {
    await dynamodb.send(
      new CreateTableCommand({
        TableName: table,
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        BillingMode: 'PAY_PER_REQUEST',
      }),
    )
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
  }
  await waitUntilTableExists({ client: dynamodb, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName: table })
  dynamodb.destroy()
}
