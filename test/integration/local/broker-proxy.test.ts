import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../../lib/clock.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { createKafkaTransport } from '../../../lib/kafka/kafkajs-transport.ts'
import { TransportError } from '../../../lib/kafka/transport.ts'
import { type BrokerProxy, type FateOf, startBrokerProxy } from '../../../lib/local/broker-proxy.ts'
import { clusterAt, within } from '../../helpers/kafka-client.ts'
import { kafkaBrokers } from '../../helpers/stack.ts'

const existsAlready = 36

let direct: Cluster
let proxy: BrokerProxy
let transport: ReturnType<typeof createKafkaTransport>
let topic: string

beforeEach(async () => {
  const brokers = await kafkaBrokers('4.1')
  direct = clusterAt(brokers)
  proxy = await startBrokerProxy()
  proxy.forwardTo(Number(brokers[0]?.split(':')[1]))
  transport = createKafkaTransport({ clientId: 'fencepost-test', brokers: [`127.0.0.1:${proxy.port}`] })
  topic = `proxied-${systemRandom.id()}`
})
afterEach(async () => {
  await transport.close()
  await proxy.stop()
  await direct.close()
})

/** Its effect can be seen: the topic is there. Answers the error code: it can be made once. */
async function createTopic(ms = 5_000): Promise<number | undefined> {
  const topics = [{ name: topic, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }]
  const body = { topics, timeoutMs: 5_000, validateOnly: false }
  const [node] = transport.bootstrap
  if (!node) throw new Error('no node')
  const answer = await transport.send({ node, api: 'CreateTopics', version: 7, body, deadline: within(ms) })
  return answer.topics[0]?.errorCode
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => (error instanceof TransportError ? error.reason : error),
  )

const exists = async (): Promise<boolean> => (await direct.topics([topic], within(5_000), 'fresh')).has(topic)

async function untilExists(): Promise<void> {
  for (const deadline = within(10_000); !(await exists()); await systemClock.sleep(20)) {
    if (deadline.remainingMs() <= 0) throw new Error(`${topic} does not appear`)
  }
}

/** Harms CreateTopics only, and counts. */
function harming(fate: ReturnType<FateOf>): { readonly hits: number; readonly heal: () => void } {
  let hits = 0
  const heal = proxy.harm(({ api }) => {
    if (api !== 'CreateTopics') return 'pass'
    hits++
    return fate
  })
  return {
    heal,
    get hits() {
      return hits
    },
  }
}

test('what is not harmed passes both ways', async () => {
  expect(await createTopic()).toBe(0)
  await untilExists()
})

test('a lost request never reaches the broker; its client sees a cut connection and can go on', async () => {
  const harm = harming('lose-request')
  expect(await failureOf(createTopic())).toBe('closed')
  expect(harm.hits).toBe(1)
  harm.heal()
  expect(await createTopic()).toBe(0)
})

test('a request whose answer is lost has its effect', async () => {
  const harm = harming('lose-answer')
  expect(await failureOf(createTopic())).toBe('closed')
  expect(harm.hits).toBe(1)
  harm.heal()
  expect(await createTopic()).toBe(existsAlready)
})

test('a half-open connection takes requests, answers nothing and is not closed; a new one works', async () => {
  const harm = harming('silence')
  expect(await failureOf(createTopic(700))).toBe('timeout')
  harm.heal()
  expect(await createTopic()).toBe(0)
})

test('a request that is held back arrives although its client has given up', async () => {
  const harm = harming({ delayMs: 1_000 })
  expect(await failureOf(createTopic(300))).toBe('timeout')
  expect(await exists()).toBe(false)
  await untilExists()
  expect(harm.hits).toBe(1)
})
