import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureFenceTable } from '../../lib/fencing/ensure-fence-store.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import type { OutputRecord } from '../../lib/kafka/record.ts'
import { bundleRelay } from '../../lib/local/bundle.ts'
import { startPoller } from '../../lib/local/esm-poller/poller.ts'
import { createLambdaHost, type LambdaHost } from '../../lib/local/lambda-host/lambda-host.ts'
import { clusterAt } from '../helpers/kafka-client.ts'
import { recordsCommitted } from '../helpers/read-committed.ts'
import { dynamoDbEndpoint, freshName, kafkaBrokers } from '../helpers/stack.ts'
import { createTopic } from '../helpers/topics.ts'
import { appendRecords } from '../helpers/writing.ts'

const module = join(import.meta.dirname, '..', 'helpers', 'odd-relay.ts')
const table = 'fencepost-odd-events'

let dir: string
let host: LambdaHost
let cluster: Cluster
let brokers: readonly string[]
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-odd-'))
  await bundleRelay(module, 'relay', dir)
  host = createLambdaHost()
  brokers = await kafkaBrokers('4.1')
  cluster = clusterAt(brokers)
  await ensureFenceTable({ table, ...(await dynamoDbEndpoint()) })
})
afterAll(async () => {
  await host.stop()
  await cluster.close()
  await rm(dir, { recursive: true, force: true })
})

/** Deploys the bundled function for topics of its own. */
async function deployed() {
  const { endpoint, credentials } = await dynamoDbEndpoint()
  const source = await createTopic(brokers, 'source')
  const output = await createTopic(brokers, 'output')
  const dead = await createTopic(brokers, 'dead')
  const name = freshName('odd')
  const env = {
    TEST_SOURCE: source,
    TEST_OUTPUT: output,
    TEST_DEAD: dead,
    FENCEPOST_PREFIX: name,
    FENCEPOST_BROKERS: brokers.join(','),
    FENCEPOST_TABLE: table,
    FENCEPOST_TABLE_ENDPOINT: endpoint,
    FENCEPOST_TRANSACTION_TIMEOUT_MS: '60000',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
  await host.deploy({ name, code: { bundleDir: dir }, handler: 'index.handler', timeoutMs: 20_000, env })
  return { source, output, dead, name, invoke: (event: unknown) => host.invoke(name, event) }
}

const bare = ({ key, value, headers }: OutputRecord) => ({ key, value, headers })

test('records of every odd shape pass through trigger, function and transaction byte by byte, or are dead-lettered', async () => {
  const { source, output, dead, name, invoke } = await deployed()
  const headers = [
    { key: 'same', value: Buffer.from([0x80, 0xff, 0x00, 0x7f]) },
    { key: 'same', value: Buffer.from('again') },
  ]
  const at = { timestampMs: cluster.clock.now() }
  const good: OutputRecord[] = [
    { key: Buffer.from('k'), value: Buffer.from('{"plain":true}'), headers: [], ...at },
    { key: Buffer.from('gone'), value: null, headers: [], ...at },
    { key: null, value: Buffer.from(' {"key": null} '), headers, ...at },
    { key: Buffer.from([0xff]), value: Buffer.from('[1,2]'), headers: [], ...at },
  ]
  const malformed = { key: null, value: Buffer.from('{"n":'), headers: [], ...at }
  await appendRecords(cluster, { topic: source, partition: 0 }, [...good.slice(0, 2), malformed, ...good.slice(2)])
  const poller = await startPoller({ brokers, topic: source, group: `${name}-trigger`, function: invoke })
  await expect.poll(async () => (await recordsCommitted(cluster, output, 1)).length, { timeout: 20_000 }).toBe(4)
  await poller.stop()
  expect((await recordsCommitted(cluster, output, 1)).map(bare)).toEqual(good.map(bare))
  expect((await recordsCommitted(cluster, dead, 1)).map(({ value }) => value)).toEqual([malformed.value])
})

test('events that are empty, of another topic, of another kind, or all the same at once', async () => {
  const { source, output, invoke } = await deployed()
  const event = (records: object) => ({ eventSource: 'SelfManagedKafka', bootstrapServers: brokers.join(','), records })
  const about = (topic: string) =>
    event({
      [`${topic}-0`]: [{ topic, partition: 0, offset: 0, timestamp: 0, timestampType: 'CREATE_TIME', headers: [] }],
    })

  expect(await invoke(event({}))).toMatchObject({ status: 'success', payload: { lanes: 0, windows: 0 } })
  const wrong = [await invoke({ Records: [] }), await invoke(about('somebody.elses'))]
  expect(wrong).toMatchObject([{ status: 'error' }, { status: 'error' }])
  const [kind, topic] = wrong.map(({ payload }) => JSON.stringify(payload))
  expect(kind).toContain('EVENT_INVALID: eventSource is missing')
  expect(topic).toContain(`EVENT_INVALID: the event is of topic 'somebody.elses', relay 'odd' reads '${source}'`)

  await appendRecords(cluster, { topic: source, partition: 0 }, [{ value: Buffer.from('1') }])
  const same = await Promise.all(Array.from({ length: 3 }, () => invoke(about(source))))
  expect(same.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
  expect((await recordsCommitted(cluster, output, 1)).map(({ value }) => String(value))).toEqual(['1'])
})
