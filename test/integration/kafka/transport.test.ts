import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { createKafkaTransport } from '../../../lib/kafka/kafkajs-transport.ts'
import { type NodeAddress, type Transport, TransportError } from '../../../lib/kafka/transport.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'
import { startTcpProxy, type TcpProxy } from '../../helpers/tcp-proxy.ts'
import { createTopic } from '../../helpers/topics.ts'

let brokers: readonly string[]
let topicId: string
let proxy: TcpProxy
let transport: Transport
let node: NodeAddress

beforeAll(async () => {
  brokers = await kafkaBrokers('4.1')
  const topic = await createTopic(brokers, 'transport')
  const cluster = clusterAt(brokers)
  topicId = (await cluster.topics([topic], within(5_000))).get(topic)?.topicId ?? ''
  await cluster.close()
})

beforeEach(async () => {
  const [host = '', port] = brokers[0]?.split(':') ?? []
  proxy = await startTcpProxy({ host, port: Number(port) })
  transport = createKafkaTransport({ clientId: 'fencepost-test', brokers: [`127.0.0.1:${proxy.port}`] })
  node = transport.bootstrap[0] as NodeAddress
})
afterEach(async () => {
  await transport.close()
  await proxy.stop()
})

const describeCluster = (ms = 5_000) => {
  const body = { includeClusterAuthorizedOperations: false }
  return transport.send({ node, api: 'DescribeCluster', version: 0, body, deadline: within(ms) })
}

/** Waits in the broker for so long: nothing is in the topic. */
const fetchFor = (maxWaitMs: number) => {
  const partitions = [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 1_000 }]
  const topics = [{ topicId, partitions }]
  const body = { maxWaitMs, minBytes: 1, topics, forgottenTopicsData: [] }
  return transport.send({ node, api: 'Fetch', version: 13, body, deadline: within(20_000) })
}

async function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof TransportError) return error
  throw new Error(`expected a TransportError, got ${String(error)}`)
}

test('requests that run at once share a connection and each gets its own answer', async () => {
  const groups = Array.from({ length: 50 }, (_, index) => `group-${index}`)
  const answers = await Promise.all(
    groups.map((group) => {
      const body = { keyType: 0, coordinatorKeys: [group] }
      return transport.send({ node, api: 'FindCoordinator', version: 4, body, deadline: within(5_000) })
    }),
  )
  expect(answers.map(({ coordinators }) => coordinators[0]?.key)).toEqual(groups)
  expect(proxy.accepted).toBe(1)
})

test('a fetch that waits in the broker does not hold up other requests', async () => {
  const waiting = failureOf(fetchFor(15_000))
  expect((await describeCluster(5_000)).errorCode).toBe(0)
  await transport.close()
  expect(await waiting).toMatchObject({ reason: 'closed' })
})

test('a deadline that passes ends the connection: what was sent may have been done, a new connection proves itself first', async () => {
  await describeCluster()
  proxy.muteAnswers()
  const [late, neighbour] = await Promise.all([failureOf(describeCluster(200)), failureOf(describeCluster(20_000))])
  expect(late).toMatchObject({ reason: 'timeout', sent: true })
  expect(neighbour).toMatchObject({ reason: 'closed', sent: true })
  expect(await failureOf(describeCluster(200))).toMatchObject({ reason: 'timeout', sent: false })
  expect(proxy.accepted).toBe(2)
})

test('a connection that is cut fails what is outstanding at once, and the next request opens another', async () => {
  const waiting = failureOf(fetchFor(15_000))
  await describeCluster()
  expect(proxy.cut()).toBe(2)
  expect(await waiting).toMatchObject({ reason: 'closed', sent: true })
  expect((await fetchFor(10)).errorCode).toBe(0)
  expect(proxy.accepted).toBe(3)
})

test('a broker that accepts and closes is told apart from one that refuses connections', async () => {
  proxy.refuse()
  expect(await failureOf(describeCluster())).toMatchObject({ reason: 'throttled', sent: false })
  await proxy.stop()
  expect(await failureOf(describeCluster())).toMatchObject({ reason: 'connect', sent: false })
})

test('nothing is sent when no time is left', async () => {
  expect(await failureOf(describeCluster(0))).toMatchObject({ reason: 'timeout', sent: false })
  expect(proxy.accepted).toBe(0)
})

test('a connection that was frozen for more than a minute is opened anew, a younger one is kept', async () => {
  await transport.close()
  let frozenMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + frozenMs }
  transport = createKafkaTransport({ clientId: 'fencepost-test', brokers: [`127.0.0.1:${proxy.port}`] }, clock)
  await describeCluster()
  frozenMs += 50_000
  await describeCluster()
  expect(proxy.accepted).toBe(1)
  frozenMs += 61_000
  await describeCluster()
  expect(proxy.accepted).toBe(2)
})
