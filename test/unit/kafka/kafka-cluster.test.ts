import { beforeEach, describe, expect, test } from 'vitest'
import { type Clock, type Deadline, deadlineIn } from '../../../lib/clock.ts'
import { isRelayError } from '../../../lib/errors.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { createCluster } from '../../../lib/kafka/kafka-cluster.ts'
import { type Api, apis, type RequestOf, type ResponseOf } from '../../../lib/kafka/protocol/generated/index.ts'
import {
  type ApiRange,
  type BrokerCapabilities,
  type NodeAddress,
  type Transport,
  TransportError,
  type WireRequest,
} from '../../../lib/kafka/transport.ts'

const address = (nodeId: number): NodeAddress => ({ nodeId, host: 'broker', port: 9000 + nodeId })
const idOf = (node: NodeAddress): number => node.port - 9000

/** Three brokers that answer what the test says, and note what they were asked. */
class ScriptedTransport implements Transport {
  readonly bootstrap: readonly NodeAddress[] = [1, 2, 3].map((id) => ({ ...address(id), nodeId: -1 }))
  readonly asked: { readonly api: string; readonly broker: number; readonly version: number }[] = []
  readonly dead = new Map<number, TransportError['reason']>()
  spoken: Partial<Record<Api, ApiRange>> = {}
  features: ReadonlyMap<string, number> = new Map()
  answers: { [A in Api]?: (body: RequestOf<A>, broker: number) => Partial<ResponseOf<A>> } = {}

  async send<A extends Api>({ node, api, version, body }: WireRequest<A>): Promise<ResponseOf<A>> {
    this.#refuseIfDead(node, true)
    this.asked.push({ api, broker: idOf(node), version })
    const answer = this.answers[api] as ((body: RequestOf<A>, broker: number) => ResponseOf<A>) | undefined
    if (answer === undefined) throw new Error(`the test has no answer for ${api}`)
    return answer(body, idOf(node))
  }

  async capabilities(node: NodeAddress): Promise<BrokerCapabilities> {
    this.#refuseIfDead(node, false)
    const ranges = Object.values(apis).map(
      ({ name, key, versions }) => [key, this.spoken[name] ?? { min: 0, max: versions.max }] as const,
    )
    return { apis: new Map(ranges), features: this.features }
  }

  async close(): Promise<void> {}

  brokersAsked(api: Api): number[] {
    return this.asked.filter((each) => each.api === api).map(({ broker }) => broker)
  }

  #refuseIfDead(node: NodeAddress, sent: boolean): void {
    const reason = this.dead.get(idOf(node))
    if (reason !== undefined) throw new TransportError(node, reason, sent, `broker ${idOf(node)} is gone`)
  }
}

const topicId = '00000000-0000-0000-0000-00000000000a'
const healthy = { errorCode: 0, replicaNodes: [1, 2, 3], isrNodes: [1, 2, 3], offlineReplicas: [] }

interface Leader {
  readonly id: number
  readonly epoch: number
}

/** One topic, `orders`; leaders by partition. */
function metadata(
  leaders: readonly Leader[],
  more: Partial<ResponseOf<'Metadata'>> = {},
): Partial<ResponseOf<'Metadata'>> {
  const partitions = leaders.map(({ id, epoch }, partitionIndex) => ({
    ...healthy,
    partitionIndex,
    leaderId: id,
    leaderEpoch: epoch,
    errorCode: id < 0 ? 5 : 0,
  }))
  const topic = { errorCode: 0, name: 'orders', topicId, isInternal: false, partitions, topicAuthorizedOperations: 0 }
  const brokers = [1, 2, 3].map((id) => ({ ...address(id), rack: null }))
  return { clusterId: 'cluster-a', controllerId: 1, brokers, topics: [topic], ...more }
}

const found = (id: number, errorCode = 0): Partial<ResponseOf<'FindCoordinator'>> => ({
  coordinators: [{ key: 'lane', ...address(id), errorCode, errorMessage: null }],
})

let nowMs: number
let transport: ScriptedTransport
let cluster: Cluster
const clock: Clock = {
  now: () => nowMs,
  sleep: async (ms) => {
    nowMs += ms
  },
}
const chance = { id: () => 'id', fraction: () => 0.5 }
const soon = (): Deadline => deadlineIn(clock, 5_000)

beforeEach(() => {
  nowMs = 1_000_000
  transport = new ScriptedTransport()
  transport.answers.Metadata = () =>
    metadata([
      { id: 1, epoch: 4 },
      { id: 2, epoch: 7 },
    ])
  cluster = createCluster(transport, clock, chance)
})

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return isRelayError(error) ? error.code : String(error)
}

describe('whom it asks', () => {
  test('the next address when one does not answer, and only then', async () => {
    transport.dead.set(1, 'connect').set(2, 'timeout')
    expect(await cluster.clusterId(soon())).toBe('cluster-a')
    expect(transport.brokersAsked('Metadata')).toEqual([3])
  })

  test('those that failed last, from then on', async () => {
    transport.dead.set(1, 'connect')
    await cluster.clusterId(soon())
    transport.dead.clear()
    nowMs += 61_000
    await cluster.clusterId(soon())
    expect(transport.brokersAsked('Metadata')).not.toContain(1)
  })

  test('BROKER_UNAVAILABLE names every address and why', async () => {
    transport.dead.set(1, 'connect').set(2, 'timeout').set(3, 'throttled')
    const error = await cluster.clusterId(soon()).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'BROKER_UNAVAILABLE', disposition: 'retry' })
    expect(String(error)).toContain(
      'broker 1 is gone (connect); broker 2 is gone (timeout); broker 3 is gone (throttled)',
    )
  })

  test('nobody else once the credentials were refused: that could lock an account', async () => {
    transport.dead.set(1, 'authentication')
    expect(await codeOf(cluster.clusterId(soon()))).toBe('AUTHENTICATION_FAILED')
    expect(transport.asked).toEqual([])
  })

  test('nobody else without credentials to show', async () => {
    transport.dead.set(1, 'secret')
    expect(await codeOf(cluster.clusterId(soon()))).toBe('SECRET_UNREADABLE')
    expect(transport.asked).toEqual([])
  })

  test('the others where one has a certificate not to trust; BROKER_UNTRUSTED where all have', async () => {
    transport.dead.set(1, 'untrusted')
    expect(await cluster.clusterId(soon())).toBe('cluster-a')
    transport.dead.set(2, 'untrusted').set(3, 'untrusted')
    expect(await codeOf(createCluster(transport, clock, chance).clusterId(soon()))).toBe('BROKER_UNTRUSTED')
    transport.dead.set(3, 'timeout')
    expect(await codeOf(createCluster(transport, clock, chance).clusterId(soon()))).toBe('BROKER_UNAVAILABLE')
  })
})

describe('topics', () => {
  const topic = async (fresh?: 'fresh') => (await cluster.topics(['orders'], soon(), fresh)).get('orders')
  const leadersOf = async (fresh?: 'fresh') =>
    (await topic(fresh))?.partitions.map(({ leader }) => leader?.nodeId ?? null)

  test('are believed for a minute', async () => {
    await topic()
    nowMs += 60_000
    await topic()
    expect(transport.brokersAsked('Metadata')).toHaveLength(1)
    nowMs += 1
    await topic()
    expect(transport.brokersAsked('Metadata')).toHaveLength(2)
  })

  test('are asked for once, however many find at the same time that they are old', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => topic()))
    expect(transport.brokersAsked('Metadata')).toHaveLength(1)
    expect(all.map((each) => each?.topicId)).toEqual(Array(5).fill(topicId))
    await Promise.all([topic('fresh'), topic('fresh')])
    expect(transport.brokersAsked('Metadata'), 'who wants them fresh is never given an earlier answer').toHaveLength(3)
  })

  test('are asked for again by who has less time than the one who asked first', async () => {
    await Promise.all([1_000, 5_000].map((ms) => cluster.topics(['orders'], deadlineIn(clock, ms))))
    expect(transport.brokersAsked('Metadata')).toHaveLength(1)
    nowMs += 60_001
    await Promise.all([5_000, 1_000].map((ms) => cluster.topics(['orders'], deadlineIn(clock, ms))))
    expect(transport.brokersAsked('Metadata'), 'a silent broker would hold up whoever waits with it').toHaveLength(3)
  })

  test('are asked for by each for itself when the question of the first failed', async () => {
    let asked = 0
    transport.answers.Metadata = () => {
      if (asked++ === 0) return { ...metadata([]), clusterId: null }
      return metadata([{ id: 1, epoch: 4 }])
    }
    const [first, second] = await Promise.allSettled([topic(), topic()])
    expect([first?.status, second?.status]).toEqual(['rejected', 'fulfilled'])
    expect(await topic()).toMatchObject({ topicId })
  })

  test('asked anew, another broker tells', async () => {
    await topic()
    await topic('fresh')
    const [first, second] = transport.brokersAsked('Metadata')
    expect(second).not.toBe(first)
  })

  test('keep their other partitions when one has no leader', async () => {
    transport.answers.Metadata = () =>
      metadata([
        { id: 1, epoch: 4 },
        { id: -1, epoch: 7 },
      ])
    expect(await leadersOf()).toEqual([1, null])
  })

  test('are absent when missing, and are forgotten when they are gone', async () => {
    await topic()
    const gone = {
      errorCode: 3,
      name: 'orders',
      topicId,
      isInternal: false,
      partitions: [],
      topicAuthorizedOperations: 0,
    }
    transport.answers.Metadata = () => metadata([], { topics: [gone] })
    expect(await topic('fresh')).toBeUndefined()
  })

  test.each([
    [29, 'NOT_AUTHORIZED'],
    [17, 'TOPIC_INVALID'],
    [7, 'BROKER_ERROR'],
  ])('that answer %i end in %s', async (errorCode, code) => {
    const refused = {
      errorCode,
      name: 'orders',
      topicId,
      isInternal: false,
      partitions: [],
      topicAuthorizedOperations: 0,
    }
    transport.answers.Metadata = () => metadata([], { topics: [refused] })
    expect(await codeOf(topic())).toBe(code)
  })

  test('a broker that lags does not bring an earlier leader back', async () => {
    expect(await leadersOf()).toEqual([1, 2])
    transport.answers.Metadata = () =>
      metadata([
        { id: 3, epoch: 3 },
        { id: 3, epoch: 8 },
      ])
    expect(await leadersOf('fresh')).toEqual([1, 3])
  })

  test('made again under the same name, begin with their own epochs', async () => {
    await topic()
    const recreated = '00000000-0000-0000-0000-00000000000b'
    transport.answers.Metadata = () => {
      const answer = metadata([{ id: 3, epoch: 0 }])
      return { ...answer, topics: (answer.topics ?? []).map((each) => ({ ...each, topicId: recreated })) }
    }
    expect(await topic('fresh')).toMatchObject({ topicId: recreated, partitions: [{ leader: { nodeId: 3 } }] })
  })
})

describe('leaders', () => {
  const target = { to: 'leader', topic: 'orders', partition: 1 } as const

  test('are waited for during an election', async () => {
    let tries = 0
    transport.answers.Metadata = () =>
      metadata([
        { id: 1, epoch: 4 },
        { id: ++tries < 4 ? -1 : 3, epoch: 8 },
      ])
    expect(await cluster.locate(target, soon())).toMatchObject({ nodeId: 3 })
    expect(tries).toBe(4)
  })

  test('that do not appear in time end in BROKER_UNAVAILABLE', async () => {
    transport.answers.Metadata = () =>
      metadata([
        { id: 1, epoch: 4 },
        { id: -1, epoch: 7 },
      ])
    expect(await codeOf(cluster.locate(target, soon()))).toBe('BROKER_UNAVAILABLE')
  })

  test('of a partition that does not exist are not waited for', async () => {
    expect(await codeOf(cluster.locate({ ...target, partition: 2 }, soon()))).toBe('TOPIC_MISSING')
    expect(transport.brokersAsked('Metadata')).toHaveLength(2)
  })

  test('once forgotten, are asked for anew', async () => {
    await cluster.locate(target, soon())
    cluster.forget(target)
    transport.answers.Metadata = () =>
      metadata([
        { id: 1, epoch: 4 },
        { id: 3, epoch: 8 },
      ])
    expect(await cluster.locate(target, soon())).toMatchObject({ nodeId: 3 })
  })
})

describe('coordinators', () => {
  const target = { to: 'transaction-coordinator', key: 'lane' } as const

  test('are looked up once', async () => {
    transport.answers.FindCoordinator = () => found(2)
    await cluster.locate(target, soon())
    expect(await cluster.locate(target, soon())).toEqual(address(2))
    expect(transport.brokersAsked('FindCoordinator')).toHaveLength(1)
  })

  test('once forgotten, are asked for from another broker than the one that misled', async () => {
    transport.answers.FindCoordinator = () => found(2)
    await cluster.locate(target, soon())
    cluster.forget(target)
    await cluster.locate(target, soon())
    const [first, second] = transport.brokersAsked('FindCoordinator')
    expect(second).not.toBe(first)
  })

  test('are waited for while their topic is being made', async () => {
    let tries = 0
    transport.answers.FindCoordinator = () => (++tries < 3 ? found(-1, 15) : found(2))
    expect(await cluster.locate(target, soon())).toEqual(address(2))
  })

  test.each([
    [15, 'BROKER_UNAVAILABLE'],
    [53, 'NOT_AUTHORIZED'],
    [-1, 'BROKER_ERROR'],
  ])('that answer %i to the end end in %s', async (errorCode, code) => {
    transport.answers.FindCoordinator = () => found(-1, errorCode)
    expect(await codeOf(cluster.locate(target, soon()))).toBe(code)
  })

  test('of groups and of transactions are not confused', async () => {
    transport.answers.FindCoordinator = ({ keyType }) => found(keyType === 1 ? 2 : 3)
    expect(await cluster.locate(target, soon())).toEqual(address(2))
    expect(await cluster.locate({ to: 'group-coordinator', key: 'lane' }, soon())).toEqual(address(3))
  })

  test('are all forgotten when the addresses lead to another cluster', async () => {
    transport.answers.FindCoordinator = () => found(2)
    await cluster.clusterId(soon())
    await cluster.locate(target, soon())
    transport.answers.Metadata = () => metadata([], { clusterId: 'cluster-b' })
    nowMs += 61_000
    expect(await cluster.clusterId(soon())).toBe('cluster-b')
    await cluster.locate(target, soon())
    expect(transport.brokersAsked('FindCoordinator')).toHaveLength(2)
  })
})

describe('requests', () => {
  const target = { to: 'transaction-coordinator', key: 'lane' } as const
  const body = { transactionalId: 'lane', producerId: 1n, producerEpoch: 0, committed: true }
  const end = (maxVersion?: number) =>
    cluster.request(target, 'EndTxn', body, soon(), maxVersion === undefined ? {} : { maxVersion })
  beforeEach(() => {
    transport.answers.FindCoordinator = () => found(2)
    transport.answers.EndTxn = () => ({ errorCode: 0, throttleTimeMs: 0, producerId: -1n, producerEpoch: -1 })
  })

  test('go once, at the highest version that both sides speak, and say who answered', async () => {
    expect(await end()).toMatchObject({ node: address(2), version: 5, body: { errorCode: 0 } })
    transport.spoken.EndTxn = { min: 0, max: 4 }
    const older = createCluster(transport, clock, { id: () => 'id', fraction: () => 0.5 })
    expect(await older.request(target, 'EndTxn', body, soon())).toMatchObject({ version: 4 })
  })

  test('stay below the version that they are pinned to', async () => {
    expect(await end(4)).toMatchObject({ version: 4 })
  })

  test('that a broker cannot speak end in BROKER_TOO_OLD', async () => {
    transport.spoken.EndTxn = { min: 0, max: 2 }
    const error = await end().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'BROKER_TOO_OLD', disposition: 'fix-config' })
    expect(String(error)).toContain('speaks versions 0 to 2 of EndTxn, wanted 3 to 5')
  })

  test('were not sent when even the versions could not be asked', async () => {
    await cluster.locate(target, soon())
    transport.dead.set(2, 'timeout')
    const error = await end().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TransportError)
    expect(error).toMatchObject({ sent: false })
  })

  test('without an answer are not sent again; the coordinator is looked up anew for the next', async () => {
    await end()
    transport.dead.set(2, 'closed')
    await expect(end()).rejects.toMatchObject({ sent: true, reason: 'closed' })
    transport.answers.FindCoordinator = () => found(3)
    expect(await end()).toMatchObject({ node: address(3) })
    expect(transport.brokersAsked('EndTxn')).toEqual([2, 3])
  })

  test('to a given broker go there, whatever is known about it', async () => {
    expect(await cluster.request({ to: 'node', node: address(3) }, 'EndTxn', body, soon())).toMatchObject({
      node: address(3),
    })
  })
})

describe('the transaction protocol', () => {
  test('is the newer one where it is finalized, asked anew each time', async () => {
    expect(await cluster.transactionVersion(soon())).toBe(1)
    transport.features = new Map([['transaction.version', 2]])
    expect(await cluster.transactionVersion(soon())).toBe(2)
    transport.features = new Map([['transaction.version', 1]])
    expect(await cluster.transactionVersion(soon())).toBe(1)
  })
})
