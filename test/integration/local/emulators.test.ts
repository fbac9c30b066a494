import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AwsEndpoint } from '../../../lib/local/aws-endpoint.ts'
import { startDynamoDb } from '../../../lib/local/dynamodb.ts'
import { startS3 } from '../../../lib/local/s3.ts'
import { dynamoDbEndpoint, freshName, s3Endpoint, testBucket } from '../../helpers/stack.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-emulators-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function createTable(client: DynamoDBClient, TableName: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    }),
  )
  await waitUntilTableExists({ client, maxWaitTime: 5, minDelay: 1 }, { TableName })
}

const write = (client: DynamoDBClient, TableName: string) =>
  client.send(
    new PutItemCommand({
      TableName,
      Item: { id: { S: 'lane' } },
      ConditionExpression: 'attribute_not_exists(id)',
    }),
  )

const read = (endpoint: AwsEndpoint, TableName: string) =>
  new DynamoDBClient(endpoint).send(new GetItemCommand({ TableName, Key: { id: { S: 'lane' } }, ConsistentRead: true }))

test('of 16 conditional writes at once one wins', async () => {
  const client = new DynamoDBClient(await dynamoDbEndpoint())
  const table = freshName('race')
  await createTable(client, table)
  const writes = await Promise.allSettled(Array.from({ length: 16 }, () => write(client, table)))
  expect(writes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('DynamoDB with a data directory keeps its items over a restart on the same port', async () => {
  const dataDir = join(dir, 'dynamodb')
  const first = await startDynamoDb({ dataDir })
  const client = new DynamoDBClient(first)
  await createTable(client, 'kept')
  await write(client, 'kept')
  client.destroy()
  await first.stop()
  const second = await startDynamoDb({ dataDir, port: first.port })
  const { Item } = await read(second, 'kept')
  await second.stop()
  expect(Item).toEqual({ id: { S: 'lane' } })
})

test('S3 gives back the bytes that it was given', async () => {
  const client = new S3Client(await s3Endpoint())
  const Key = freshName('snapshot')
  const Body = Buffer.from([0, 13, 10, 255, 0])
  await client.send(new PutObjectCommand({ Bucket: testBucket, Key, Body }))
  const { Body: found } = await client.send(new GetObjectCommand({ Bucket: testBucket, Key }))
  expect(Buffer.from((await found?.transformToByteArray()) ?? [])).toEqual(Body)
})

test('a taken port is named, with the service that wanted it', async () => {
  const first = await startDynamoDb()
  const taken = `Port ${first.port} on 127.0.0.1 is taken`
  try {
    await expect(startDynamoDb({ port: first.port })).rejects.toThrow(taken)
    await expect(startS3({ dataDir: join(dir, 's3'), buckets: [], port: first.port })).rejects.toThrow(taken)
  } finally {
    await first.stop()
  }
})
