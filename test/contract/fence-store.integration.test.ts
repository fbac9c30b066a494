import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deadlineIn, systemClock, systemRandom } from '../../lib/clock.ts'
import { isRelayError } from '../../lib/errors.ts'
import { createDynamoDbFenceStore } from '../../lib/fencing/dynamodb-fence-store.ts'
import { ensureFenceTable } from '../../lib/fencing/ensure-fence-store.ts'
import { acquireFence } from '../../lib/fencing/fence.ts'
import { encodeFence } from '../../lib/fencing/fence-item.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import type { AwsEndpoint } from '../../lib/local/aws-endpoint.ts'
import { type HttpFaults, startHttpFaults } from '../../lib/local/http-faults.ts'
import { fenceRecord, fenceRequest, offsets, soon } from '../helpers/fences.ts'
import { dynamoDbEndpoint, freshName } from '../helpers/stack.ts'
import { fenceStoreContract } from './fence-store.contract.ts'

const table = freshName('fences')

async function makeStore(): Promise<FenceStore> {
  const endpoint = await dynamoDbEndpoint()
  await ensureFenceTable({ table, ...endpoint })
  return createDynamoDbFenceStore({ table, ...endpoint }, systemClock)
}

fenceStoreContract('The DynamoDB store', makeStore)

describe('The DynamoDB store on a table that is shared with other versions', () => {
  let store: FenceStore
  let endpoint: AwsEndpoint
  let client: DynamoDBClient
  beforeAll(async () => {
    store = await makeStore()
    endpoint = await dynamoDbEndpoint()
    client = new DynamoDBClient(endpoint)
  })
  afterAll(() => {
    store.close()
    client.destroy()
  })
  const put = (item: ReturnType<typeof encodeFence>) =>
    client.send(new PutItemCommand({ TableName: table, Item: item }))

  test('making the table twice is no error', async () => {
    await expect(ensureFenceTable({ table, ...endpoint })).resolves.toBeUndefined()
  })

  test('an attribute that a newer version added survives our writes', async () => {
    const record = fenceRecord({ id: freshName('lane'), owner: null, lastNonce: 'n' })
    await put({ ...encodeFence(record), colour: { S: 'red' } })
    const request = fenceRequest({ id: record.id })
    const acquired = await acquireFence(store, systemClock, systemRandom, request, soon())
    expect(acquired.kind).toBe('acquired')
    const Key = { id: { S: record.id } }
    const { Attributes } = await client.send(new UpdateItemCommand({ TableName: table, Key, ReturnValues: 'ALL_NEW' }))
    expect(Attributes).toMatchObject({ colour: { S: 'red' }, token: { N: '2' } })
  })

  test('a record of a newer format is refused, and hides no other from a listing', async () => {
    const prefix = freshName('lane')
    const records = ['a', 'b'].map((suffix) => fenceRecord({ id: `${prefix}.${suffix}` }))
    for (const record of records) await put(encodeFence(record))
    await put({ ...encodeFence(fenceRecord({ id: `${prefix}.new` })), formatVersion: { N: '2' } })
    await expect(store.read(`${prefix}.new`, soon())).rejects.toThrow(/FORMAT_TOO_NEW/)
    const { records: listed, unreadable } = await store.list(prefix, soon())
    expect(listed.map(({ id }) => id).sort()).toEqual(records.map(({ id }) => id))
    expect(unreadable).toMatchObject([{ id: `${prefix}.new`, error: { code: 'FORMAT_TOO_NEW' } }])
  })
})

describe('The DynamoDB store when the service misbehaves', () => {
  let faults: HttpFaults
  let store: FenceStore
  beforeAll(async () => {
    const { endpoint, ...rest } = await dynamoDbEndpoint()
    await ensureFenceTable({ table, endpoint, ...rest })
    faults = await startHttpFaults(endpoint)
    store = createDynamoDbFenceStore({ ...rest, table, endpoint: faults.endpoint, requestTimeoutMs: 300 }, systemClock)
  })
  afterAll(async () => {
    store.close()
    await faults.stop()
  })

  const acquire = (id: string, deadline = soon()) =>
    acquireFence(store, systemClock, systemRandom, fenceRequest({ id }), deadline)
  const isWrite = (target: string) => target.endsWith('.UpdateItem')
  const throttle = {
    status: 400,
    body: JSON.stringify({
      __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
      message: 'slow down',
    }),
  }

  async function failure(call: Promise<unknown>) {
    const error = await call.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    if (!isRelayError(error)) throw new Error(`expected a RelayError, got ${String(error)}`)
    return error
  }

  test('P14: an acquire whose answer was lost is repeated by the SDK and still ours', async () => {
    let lost = 0
    faults.inject(({ target }) => {
      if (!isWrite(target) || lost > 0) return 'pass'
      lost += 1
      return 'lose-answer'
    })
    const acquired = await acquire(freshName('lane'))
    expect(lost).toBe(1)
    expect(acquired).toMatchObject({ kind: 'acquired', found: null })
    expect(acquired.kind === 'acquired' && acquired.handle.token).toBe(1)
  })

  test('P14: a release whose answer was lost is repeated by the SDK and no loss', async () => {
    faults.inject(() => 'pass')
    const acquired = await acquire(freshName('lane'))
    if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
    faults.inject(({ target, count }) => (isWrite(target) && count === 1 ? 'lose-answer' : 'pass'))
    const ending = { kind: 'settled', committedUntil: offsets([0, 5n]), committedAtMs: 7, producer: null } as const
    expect(await acquired.handle.release(ending, soon())).toEqual({ kind: 'ours' })
    expect(faults.seen).toBeGreaterThan(1)
    expect(acquired.handle.record).toMatchObject({ owner: null, dirty: false })
  })

  test('throttled for a moment it goes on', async () => {
    faults.inject(({ count }) => (count <= 2 ? throttle : 'pass'))
    expect((await acquire(freshName('lane'))).kind).toBe('acquired')
    expect(faults.seen).toBeGreaterThan(2)
  })

  test('throttled for long it says so, with table, place and fix', async () => {
    faults.inject(() => throttle)
    const error = await failure(acquire(freshName('lane')))
    expect(error.code).toBe('FENCE_STORE_THROTTLED')
    expect(error.message).toContain(`fence table ${table} (${faults.endpoint})`)
    expect(error.message).toMatch(/3 attempts.*on-demand/)
    expect(error.outcome).toBe('not-applied')
  })

  test('a write that was never answered has an unknown outcome, and may have happened', async () => {
    const id = freshName('lane')
    faults.inject(({ target }) => (isWrite(target) ? 'lose-answer' : 'pass'))
    const error = await failure(acquire(id))
    expect(error).toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE', outcome: 'unknown' })
    faults.inject(() => 'pass')
    expect((await store.read(id, soon()))?.token).toBe(1)
  })

  test('a service that does not answer ends with the deadline', async () => {
    faults.inject(() => 'hang')
    const startedMs = systemClock.now()
    const error = await failure(acquire(freshName('lane'), deadlineIn(systemClock, 200)))
    expect(error.code).toBe('FENCE_STORE_UNAVAILABLE')
    expect(systemClock.now() - startedMs).toBeLessThan(2_000)
    expect(faults.seen).toBe(1)
  })

  test('each transmission has a bound of its own', async () => {
    faults.inject(({ count }) => (count === 1 ? 'hang' : 'pass'))
    expect((await acquire(freshName('lane'))).kind).toBe('acquired')
  })

  test('past the deadline nothing is sent', async () => {
    faults.inject(() => 'pass')
    const error = await failure(acquire(freshName('lane'), deadlineIn(systemClock, 0)))
    expect(error).toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE', outcome: 'not-applied' })
    expect(faults.seen).toBe(0)
  })

  test('a losing write learns the winner from the refusal itself, without a read', async () => {
    const winner = fenceRecord({
      id: freshName('lane'),
      token: 8,
      owner: { nonce: 'w', container: 'c', requestId: 'r' },
    })
    const refusal = {
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      message: 'The conditional request failed',
      Item: encodeFence(winner),
    }
    faults.inject(() => ({ status: 400, body: JSON.stringify(refusal) }))
    const write = { kind: 'create', record: fenceRecord({ id: winner.id }), writer: 'nonce-1' } as const
    expect(await store.write(write, soon())).toEqual({ kind: 'lost', record: winner })
    expect(faults.seen).toBe(1)
  })

  test('R7: a silent store takes no work away: the renewal and the release say so and do not throw', async () => {
    faults.inject(() => 'pass')
    const acquired = await acquire(freshName('lane'))
    if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
    faults.inject(() => ({ status: 500, body: '{}' }))
    const { handle } = acquired
    expect(await handle.renew(soon())).toMatchObject({ kind: 'silent', error: { code: 'FENCE_STORE_UNAVAILABLE' } })
    expect((await handle.release({ kind: 'unknown' }, soon())).kind).toBe('silent')
  })

  test('a table that is missing is named, with the fix', async () => {
    faults.inject(() => 'pass')
    const { endpoint, ...rest } = await dynamoDbEndpoint()
    const elsewhere = createDynamoDbFenceStore({ ...rest, table: 'no-such-table', endpoint }, systemClock)
    const error = await failure(elsewhere.read('lane', soon()))
    expect(error).toMatchObject({ code: 'FENCE_TABLE_MISSING', disposition: 'fix-config' })
    expect(error.message).toMatch(/no-such-table .*does not exist: .*; deploy it/)
    elsewhere.close()
  })

  test('a store that is down is named, and nothing was applied', async () => {
    const { endpoint: _up, ...rest } = await dynamoDbEndpoint()
    const gone = await startHttpFaults('http://127.0.0.1:9')
    await gone.stop()
    const down = createDynamoDbFenceStore({ ...rest, table, endpoint: gone.endpoint, attempts: 1 }, systemClock)
    const error = await failure(down.read('lane', soon()))
    expect(error).toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE', outcome: 'not-applied' })
    expect(error.message).toMatch(/ECONNREFUSED/)
    down.close()
  })
})
