import { describe, expect, onTestFinished, test } from 'vitest'
import { type HttpFault, type HttpFaults, startHttpFaults } from '../../../lib/local/http-faults.ts'
import { copyAfter, gate } from '../../helpers/gates.ts'
import { initProducer } from '../../helpers/kafka-client.ts'
import { clusterThrough, proxyBefore } from '../../helpers/kafka-proxy.ts'
import { editFence, fenceOf } from '../../helpers/operator.ts'
import { fenceTable, type RelayWorld, relayWorld } from '../../helpers/relay-world.ts'
import { eventOf, failureOf, onlyLane, ring } from '../../helpers/ringing.ts'
import { dynamoDbEndpoint } from '../../helpers/stack.ts'

const throttled: HttpFault = {
  status: 400,
  body: JSON.stringify({
    __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
    message: 'slow down',
  }),
}

/** A world whose containers may reach their fence table over a detour that can be harmed. */
async function detouredWorld() {
  const world = await relayWorld()
  const { endpoint } = await dynamoDbEndpoint()
  const faults = await startHttpFaults(endpoint)
  onTestFinished(() => faults.stop())
  const fences = await fenceTable({ endpoint: faults.endpoint })
  return { world, faults, fences }
}

const harm = (faults: HttpFaults, fault: HttpFault) => faults.inject(() => fault)

/** A bell waits for a lease that nobody holds any more. */
async function everythingOnce({ container, delivered, names }: RelayWorld, values: readonly string[]): Promise<void> {
  const bell = eventOf(names.source, 0, values.length - 1)
  expect(onlyLane(await ring(await container(), bell))).toMatchObject({ kind: 'done' })
  expect(await delivered()).toEqual(values)
}

/** Sees each request of a container to the broker. */
async function observedCluster({ brokers }: RelayWorld) {
  const proxy = await proxyBefore(brokers)
  return { requests: proxy.requests, cluster: clusterThrough(brokers, proxy), proxy }
}

describe('the fence table when a lane is acquired', () => {
  test.each([
    ['throttled', throttled, 'FENCE_STORE_THROTTLED', 'make the table on-demand or raise its capacity'],
    ['down', { status: 503, body: '{}' }, 'FENCE_STORE_UNAVAILABLE', 'check the network path to DynamoDB'],
    ['silent', 'hang', 'FENCE_STORE_UNAVAILABLE', 'check the network path to DynamoDB'],
  ] as const)('%s: failure by name, no work and no barrier; then everything once', async (_, fault, code, fix) => {
    const { world, faults, fences } = await detouredWorld()
    const { requests, cluster } = await observedCluster(world)
    const values = await world.produce(5)
    harm(faults, fault)
    const failure = await failureOf(ring(await world.container({ fences, cluster })))
    expect(failure).toMatchObject({ code, disposition: 'retry' })
    expect(failure.message).toContain(`fence table fencepost-relays (${faults.endpoint})`)
    expect(failure.message).toContain(fix)
    expect(requests).not.toContain('InitProducerId')
    expect(await world.delivered()).toEqual([])
    await everythingOnce(world, values)
  })

  test('it writes and its answers are lost: the lane is leased to nobody until the lease ends, then everything once', async () => {
    const { world, faults, fences } = await detouredWorld()
    const values = await world.produce(5)
    faults.inject(({ target }) => (target.endsWith('.UpdateItem') ? 'lose-answer' : 'pass'))
    const failure = await failureOf(ring(await world.container({ fences })))
    expect(failure).toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE', disposition: 'retry', outcome: 'unknown' })
    expect((await fenceOf(world.fences, world.lane().transactionalId)).owner).not.toBeNull()
    await everythingOnce(world, values)
  })
})

describe('the fence table while a lane works', () => {
  test.each([
    ['throttled', throttled],
    ['silent', 'hang'],
  ] as const)('%s at every renewal: the work goes on, and the release frees the lane', async (_, fault) => {
    const { world, faults, fences } = await detouredWorld()
    const values = await world.produce(5)
    const held = gate()
    const ringing = ring(await world.container({ fences, define: copyAfter(held.pass) }))
    await held.reached
    harm(faults, fault)
    await expect.poll(() => faults.seen, { timeout: 10_000 }).toBeGreaterThan(1)
    harm(faults, 'pass')
    held.open()
    expect(onlyLane(await ringing)).toMatchObject({ kind: 'done', windows: 1 })
    expect(await fenceOf(world.fences, world.lane().transactionalId)).toMatchObject({ dirty: false, owner: null })
    expect(await world.delivered()).toEqual(values)
  })

  test('throttled when a window must be announced after a death: no work, then everything once', async () => {
    const { world, faults, fences } = await detouredWorld()
    const values = await world.produce(5)
    await ring(await world.container())
    await editFence(world.fences, world.lane().transactionalId, { working: true })
    values.push(...(await world.produce(5)))
    let writes = 0
    faults.inject(({ target }) => (target.endsWith('.UpdateItem') && ++writes > 1 ? throttled : 'pass'))
    const failure = await failureOf(ring(await world.container({ fences })))
    expect(failure).toMatchObject({ code: 'FENCE_STORE_THROTTLED', disposition: 'retry' })
    expect(await world.delivered()).toEqual(values.slice(0, 5))
    await everythingOnce(world, values)
  })

  test('down at the release: success stands, the record stays dirty, and nothing is relayed twice', async () => {
    const { world, faults, fences } = await detouredWorld()
    const values = await world.produce(5)
    const held = gate()
    const warm = await world.container({ fences, define: copyAfter(held.pass) })
    const ringing = ring(warm)
    await held.reached
    harm(faults, { status: 503, body: '{}' })
    held.open()
    expect(onlyLane(await ringing)).toMatchObject({ kind: 'done', windows: 1 })
    expect(await fenceOf(world.fences, world.lane().transactionalId)).toMatchObject({ dirty: true })
    harm(faults, 'pass')
    values.push(...(await world.produce(5)))
    expect(onlyLane(await ring(warm))).toMatchObject({ kind: 'done' })
    values.push(...(await world.produce(5)))
    await everythingOnce(world, values)
  })

  test('down after a fence: failure, and no barrier before the token is proved', async () => {
    const { world, faults, fences } = await detouredWorld()
    const { requests, cluster } = await observedCluster(world)
    const values = await world.produce(5)
    const held = gate()
    const ringing = ring(await world.container({ fences, cluster, define: copyAfter(held.pass) }))
    await held.reached
    await initProducer(world.cluster, world.lane().transactionalId)
    harm(faults, { status: 503, body: '{}' })
    const before = requests.length
    held.open()
    const failure = await failureOf(ringing)
    expect(failure).toMatchObject({ code: 'FENCE_STORE_UNAVAILABLE', outcome: 'not-applied' })
    expect(failure.message).toContain('after SESSION_FENCED nothing is tried again in this invocation')
    expect(requests.slice(before)).not.toContain('InitProducerId')
    expect(await world.delivered()).toEqual([])
    await everythingOnce(world, values)
  })
})
