import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  ScanCommand,
  type ScanCommandOutput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { type Clock, type Deadline, sooner } from '../clock.ts'
import { isRelayError, type RelayError } from '../errors.ts'
import { fenceStoreError, noTime } from './dynamodb-errors.ts'
import { decodeFence, encodeFence, type Item, type StoredItem } from './fence-item.ts'
import type { FenceRecord } from './fence-record.ts'
import {
  type FenceListing,
  type FenceStore,
  type FenceWrite,
  type FenceWriteResult,
  judgeRefused,
} from './fence-store.ts'

export interface DynamoDbFenceStoreConfig {
  readonly table: string
  readonly region?: string
  /** Replaces the region's own endpoint: the local stack, a proxy, a VPC interface endpoint. */
  readonly endpoint?: string
  /** Default: the function's role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Bound of one transmission; default 1500. */
  readonly requestTimeoutMs?: number
  /** Transmissions per call; default 3. */
  readonly attempts?: number
}

/**
 * Fence records in a DynamoDB table whose key is `id` (S). One UpdateItem per write: attributes that it does not name,
 * those of a newer version included, stay as they are, and the answer is the whole record after it.
 *
 * Sources: Amazon DynamoDB Developer Guide, "Condition expressions" and "Read consistency" (ConsistentRead).
 */
export function createDynamoDbFenceStore(config: DynamoDbFenceStoreConfig, clock: Clock): FenceStore {
  let opened: DynamoDBClient | null = null
  /** Made when it is first needed: that is a tenth of a cold start, and Kafka can connect meanwhile. */
  const client = (): DynamoDBClient => {
    opened ??= new DynamoDBClient(clientConfig(config))
    return opened
  }
  const place = config.endpoint ?? config.region ?? 'the region of this function'
  const at = { table: config.table, place }

  async function read(id: string, deadline: Deadline): Promise<FenceRecord | null> {
    const command = new GetItemCommand({ TableName: config.table, Key: { id: { S: id } }, ConsistentRead: true })
    const { Item: item } = await ask('read', deadline, (options) => client().send(command, options))
    return item === undefined ? null : decodeFence(item)
  }

  async function write(write: FenceWrite, deadline: Deadline): Promise<FenceWriteResult> {
    const command = new UpdateItemCommand({ TableName: config.table, ...updateOf(write) })
    try {
      const { Attributes: item } = await ask('write', deadline, (options) => client().send(command, options))
      return { kind: 'written', record: decodeFence(item ?? {}) }
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
      return judgeRefused(write, await winner(error, idOf(write), deadline))
    }
  }

  /** Its own repetitions are harmless: the first copy that arrives decides for all. */
  async function rememberFirst(id: string, text: string, deadline: Deadline): Promise<string> {
    const command = new UpdateItemCommand({
      TableName: config.table,
      Key: { id: { S: id } },
      UpdateExpression: 'SET #text = if_not_exists(#text, :text)',
      ExpressionAttributeNames: { '#text': 'text' },
      ExpressionAttributeValues: { ':text': { S: text } },
      ReturnValues: 'ALL_NEW',
    })
    const { Attributes: item } = await ask('write', deadline, (options) => client().send(command, options))
    return item?.text?.S ?? text
  }

  /** DynamoDB sends the record that refused the write; where it does not (emulators, no record), a read tells. */
  async function winner(error: ConditionalCheckFailedException, id: string, deadline: Deadline) {
    return error.Item === undefined ? read(id, deadline) : decodeFence(error.Item)
  }

  async function list(prefix: string, deadline: Deadline): Promise<FenceListing> {
    const items: StoredItem[] = []
    let page: ScanCommandOutput | undefined
    do {
      const command = new ScanCommand({
        TableName: config.table,
        FilterExpression: 'begins_with(#id, :prefix)',
        ExpressionAttributeNames: { '#id': 'id' },
        ExpressionAttributeValues: { ':prefix': { S: prefix } },
        ExclusiveStartKey: page?.LastEvaluatedKey,
      })
      page = await ask('read', deadline, (options) => client().send(command, options))
      items.push(...(page.Items ?? []))
    } while (page.LastEvaluatedKey !== undefined)
    return sortReadable(items)
  }

  async function ask<T>(operation: 'read' | 'write', deadline: Deadline, send: Send<T>): Promise<T> {
    if (deadline.remainingMs() <= 0) throw noTime(at, operation)
    try {
      return await untilDeadline(clock, deadline, send)
    } catch (error) {
      if (isRelayError(error) || error instanceof ConditionalCheckFailedException) throw error
      throw fenceStoreError(error, at, operation)
    }
  }

  return { read, write, rememberFirst, list, close: () => opened?.destroy() }
}

/** Small bounds: DynamoDB answers in milliseconds or something is wrong, and Lambda time is paid for. */
function clientConfig({
  region,
  endpoint,
  credentials,
  requestTimeoutMs = 1500,
  attempts = 3,
}: DynamoDbFenceStoreConfig) {
  return {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    },
  }
}

const idOf = (write: FenceWrite): string => (write.kind === 'create' ? write.record.id : write.id)

/** `applyWrite` in DynamoDB's words. An owner's nonce does not exist while `owner` is null. */
function updateOf(write: FenceWrite): Omit<UpdateItemCommandInput, 'TableName'> {
  const { id: _key, ...attributes } = encodeFence(
    write.kind === 'create' ? write.record : { ...write.changes, revision: write.revision },
  )
  const condition = conditionOf(write)
  const names = [...Object.keys(attributes), ...condition.names]
  return {
    Key: { id: { S: idOf(write) } },
    UpdateExpression: `SET ${Object.keys(attributes)
      .map((name) => `#${name} = :${name}`)
      .join(', ')}`,
    ConditionExpression: condition.expression,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
      ...condition.values,
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

interface Condition {
  readonly expression: string
  readonly names: readonly string[]
  readonly values: Item
}

function conditionOf(write: FenceWrite): Condition {
  if (write.kind === 'create') return { expression: 'attribute_not_exists(#id)', names: ['id'], values: {} }
  const { token, nonce } = write.expected
  const owner = nonce === null ? 'attribute_not_exists(#owner.#nonce)' : '#owner.#nonce = :wasNonce'
  return {
    expression: `#token = :wasToken AND ${owner} AND #revision < :revision`,
    names: ['token', 'owner', 'nonce', 'revision'],
    values: { ':wasToken': { N: String(token) }, ...(nonce !== null && { ':wasNonce': { S: nonce } }) },
  }
}

function sortReadable(items: readonly StoredItem[]): FenceListing {
  const records: FenceRecord[] = []
  const unreadable: { id: string; error: RelayError }[] = []
  for (const item of items) {
    try {
      records.push(decodeFence(item))
    } catch (error) {
      if (!isRelayError(error)) throw error
      unreadable.push({ id: item.id?.S ?? '', error })
    }
  }
  return { records, unreadable }
}

type Send<T> = (options: { readonly abortSignal: AbortSignal }) => Promise<T>

/** The SDK's retries end with the deadline, whatever its own bounds would allow. */
async function untilDeadline<T>(clock: Clock, deadline: Deadline, send: Send<T>): Promise<T> {
  const late = new AbortController()
  const done = new AbortController()
  const timer = clock.sleep(sooner(clock, deadline, 60_000).remainingMs(), done.signal)
  timer.then(
    () => late.abort(),
    () => undefined,
  )
  try {
    return await send({ abortSignal: late.signal })
  } finally {
    done.abort()
  }
}
