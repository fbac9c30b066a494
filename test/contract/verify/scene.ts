import { type Deadline, deadlineIn, systemRandom } from '../../../lib/clock.ts'
import { createMemoryFenceStore } from '../../../lib/fencing/memory-fence-store.ts'
import { defineRelay, json, type OnError, type Relay, topic } from '../../../lib/index.ts'
import type { Cluster } from '../../../lib/kafka/cluster.ts'
import { fetchCommitted } from '../../../lib/kafka/committed.ts'
import type { Output, OutputRecord } from '../../../lib/kafka/record.ts'
import { BatchBuilder } from '../../../lib/kafka/record-batch/encode.ts'
import { OutputBuffer } from '../../../lib/kafka/record-batch/output-buffer.ts'
import { runInvocation } from '../../../lib/relay/invocation.ts'
import { type LaneId, laneOf } from '../../../lib/relay/lane-id.ts'
import type { RelayRuntime } from '../../../lib/relay/runtime.ts'
import { openIdempotentProducer } from '../../../lib/transaction/idempotent-producer.ts'
import { openSession } from '../../../lib/transaction/open-session.ts'
import type { TransactionSession } from '../../../lib/transaction/session.ts'
import type { VerifyOptions } from '../../../lib/verify/options.ts'
import type { VerifyReport } from '../../../lib/verify/report.ts'
import { verifyRelay } from '../../../lib/verify/verify-relay.ts'
import { createTopicNamed } from '../../helpers/topics.ts'

export interface ClusterUnderTest {
  readonly cluster: Cluster
  /** Of topics and prefixes: tests share brokers. */
  freshName(prefix: string): string
  /** Does a test's work; a virtual clock leaps over its waits. */
  run<T>(work: Promise<T>): Promise<T>
}

/** Numbers; even ones are doubled, odd ones passed on, those below 0 dropped, text is malformed. */
export interface Numbered {
  readonly n: number
}

export const sourcePartitions = 2
const outputPartitions = 2

/** A relay at work, and hands that tamper with what it has done. */
export class Scene {
  readonly relay: Relay
  readonly fences = createMemoryFenceStore()
  readonly prefix: string
  readonly even: string
  readonly odd: string
  readonly dead: string
  readonly source: string
  private readonly cluster: Cluster
  private readonly warm: RelayRuntime['warm'] = new Map()

  static async make({ cluster, freshName }: ClusterUnderTest, onError: OnError = 'dead-letter'): Promise<Scene> {
    const scene = new Scene(cluster, freshName, onError)
    await createTopicNamed(cluster, scene.source, { partitions: sourcePartitions })
    await createTopicNamed(cluster, scene.even, { partitions: outputPartitions })
    await createTopicNamed(cluster, scene.odd, { partitions: outputPartitions })
    await createTopicNamed(cluster, scene.dead)
    return scene
  }

  private constructor(cluster: Cluster, freshName: ClusterUnderTest['freshName'], onError: OnError) {
    this.cluster = cluster
    this.prefix = freshName('verify')
    this.source = freshName('numbers')
    this.even = freshName('even')
    this.odd = freshName('odd')
    this.dead = freshName('dead')
    this.relay = defineRelay({
      name: 'sort',
      source: topic(this.source, json<Numbered>()),
      outputs: { even: topic(this.even, json<Numbered>()), odd: topic(this.odd, json<Numbered>()) },
      ...(onError === 'dead-letter' ? { deadLetters: topic(this.dead) } : { onError }),
      window: { records: 5 },
      transform({ value: { n } }, { emit }) {
        if (n < 0) return
        if (n % 2 === 0) emit.even({ n: n * 2 })
        else emit.odd({ n })
      },
    })
  }

  /** Appends numbers, or text as it is, to a partition of the source, dated now or earlier. */
  async produce(partition: number, values: readonly (number | string)[], ageMs = 0): Promise<void> {
    const outputs = values.map((value) => ({ topic: this.source, partition, record: this.recordOf(value, ageMs) }))
    await this.append(outputs)
  }

  /** Appends records as a plain producer does. */
  async append(outputs: readonly Output[]): Promise<void> {
    for (const { topic, partition, record } of outputs) {
      const batch = new BatchBuilder({ maxBytes: 1_000_000 })
      if (!batch.tryAppend(record)) throw new Error('the batch is full')
      const records = batch.build({ producerId: -1n, producerEpoch: -1, baseSequence: -1, transactional: false })
      const topicData = [{ name: topic, partitionData: [{ index: partition, records }] }]
      const body = { transactionalId: null, acks: -1, timeoutMs: 5_000, topicData }
      const answer = await this.cluster.request(
        { to: 'leader', topic, partition },
        'Produce',
        body,
        this.within(10_000),
      )
      const code = answer.body.responses[0]?.partitionResponses[0]?.errorCode
      if (code !== 0) throw new Error(`Produce answered ${code}`)
    }
  }

  /** One ring of the relay, in a warm container. */
  async ring(): Promise<void> {
    const { relay, fences, cluster } = this
    const { clock } = cluster
    const deadline = this.within(20_000)
    const runtime: RelayRuntime = {
      relay,
      running: await relay.start({ secret: async () => '', deadline, clock }),
      cluster,
      fences,
      openProducer: (until) => openIdempotentProducer(cluster, systemRandom, until),
      settings: { ...settings, prefix: this.prefix },
      clock,
      random: systemRandom,
      observer: {},
      warm: this.warm,
      batchBytesMax: new Map(),
    }
    const { ok, lanes } = await runInvocation(runtime, { kind: 'pull', lingerUntilMs: null }, 'ring', deadline)
    if (!ok)
      throw new Error(`the ring failed: ${lanes.map((lane) => ('error' in lane ? lane.error.message : lane.kind))}`)
  }

  /** A session of a lane's own id: everything that it does bears the relay's name. */
  async seize(partition = 0): Promise<Hand> {
    const lane = this.lane(partition)
    return this.seizeId(partition, lane.transactionalId)
  }

  /** The same by another id. */
  async seizeId(partition: number, transactionalId: string): Promise<Hand> {
    const lane = this.lane(partition)
    const config = { transactionalId, group: lane.group, transactionTimeoutMs: 60_000 }
    const session = await openSession(this.cluster, config, systemRandom, this.within(20_000))
    const place = { topic: this.source, partition }
    await session.readCommitted([place], this.within(20_000))
    const question = { group: lane.group, partitions: [place], requireStable: false }
    const [committed] = await fetchCommitted(this.cluster, question, this.within(10_000))
    if (!committed || !('offset' in committed)) throw new Error('nothing is committed')
    const { offset, metadata } = committed
    return new Hand(session, { ...place, offset: offset ?? 0n, metadata }, () => this.within(20_000))
  }

  /** Sets the committed offset of a partition by hand, as an operator's tool does. */
  async commitByHand(partition: number, offset: bigint): Promise<void> {
    const { group } = this.lane(partition)
    const partitions = [
      { partitionIndex: partition, committedOffset: offset, committedLeaderEpoch: -1, committedMetadata: '' },
    ]
    const body = {
      groupId: group,
      generationIdOrMemberEpoch: -1,
      memberId: '',
      groupInstanceId: null,
      topics: [{ name: this.source, partitions }],
    }
    const coordinator = { to: 'group-coordinator', key: group } as const
    const answer = await this.cluster.request(coordinator, 'OffsetCommit', body, this.within(10_000))
    const code = answer.body.topics[0]?.partitions[0]?.errorCode
    if (code !== 0) throw new Error(`OffsetCommit answered ${code}`)
  }

  verify(options: Partial<VerifyOptions> = {}): Promise<VerifyReport> {
    const { relay, prefix, cluster, fences } = this
    return verifyRelay({ relay, prefix, cluster, fences, settleMs: 3_000, ...options })
  }

  /** What the relay makes of an even number. */
  doubled(n: number, partition: number): Output {
    return { topic: this.even, partition, record: this.recordOf(n * 2) }
  }

  private recordOf(value: number | string, ageMs = 0): OutputRecord {
    const text = typeof value === 'number' ? JSON.stringify({ n: value }) : value
    return { key: null, value: Buffer.from(text), timestampMs: this.cluster.clock.now() - ageMs }
  }

  private lane(partition: number): LaneId {
    const naming = { prefix: this.prefix, relay: this.relay.name, topic: this.source, partitionsPerLane: 1 }
    return laneOf(partition, sourcePartitions, naming)
  }

  private within(ms: number): Deadline {
    return deadlineIn(this.cluster.clock, ms)
  }
}

const settings = {
  transactionTimeoutMs: 60_000,
  functionTimeoutMs: 30_000,
  commitReserveMs: 500,
  leaseMs: 5_000,
  renewEveryMs: 2_000,
  generation: 1,
  container: 'test',
  rack: '',
}

/** Acts in the name of a lane. */
export class Hand {
  private readonly session: TransactionSession
  private readonly position: { topic: string; partition: number; offset: bigint; metadata: string }
  private readonly soon: () => Deadline

  constructor(session: TransactionSession, position: Hand['position'], soon: () => Deadline) {
    this.session = session
    this.position = position
    this.soon = soon
  }

  /** Outputs, and the committed offset moved by `offsets`, in one transaction that ends as said or stays open. */
  async transact(outputs: readonly Output[], offsets: number, end: 'commit' | 'abort' | 'open'): Promise<void> {
    const buffer = new OutputBuffer({ maxMessageBytes: () => 1_000_000 })
    if (outputs.length > 0) buffer.append(outputs)
    const { topic, partition, metadata } = this.position
    const offset = this.position.offset + BigInt(offsets)
    await this.session.begin(buffer.partitions(), this.soon())
    await this.session.send(buffer.partitions(), this.soon())
    await this.session.sendOffsets([{ topic, partition, offset, leaderEpoch: -1, metadata }], this.soon())
    if (end !== 'open') await this.session[end](this.soon())
  }
}
