import { deadlineIn } from '../../lib/clock.ts'
import type { Cluster } from '../../lib/kafka/cluster.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import { BatchBuilder, type BatchIdentity } from '../../lib/kafka/record-batch/encode.ts'
import { ModelTransport } from '../../lib/testing/broker-model/model-transport.ts'
import type { Dice } from './dice.ts'
import { type RecordKind, topics } from './sim-relay.ts'
import type { World } from './world.ts'

const plain: BatchIdentity = { producerId: -1n, producerEpoch: -1, baseSequence: -1, transactional: false }
const keys = ['ann', 'ben', 'cay', 'dov', 'eve']

/** Writes to the source as other applications do: plainly, and in transactions that commit, abort or are left open. */
export class SimSource {
  /** Of the transactions of other applications. */
  readonly transactionTimeoutMs = 8_000
  private readonly world: World
  private readonly dice: Dice
  private readonly cluster: Cluster
  private written = 0
  private transactions = 0

  constructor(world: World) {
    this.world = world
    this.dice = world.dice.fork('source')
    this.cluster = createCluster(new ModelTransport(world.model), world.clock, this.dice.fork('cluster').random)
  }

  async write(untilMs: number): Promise<void> {
    const { clock, plan } = this.world
    const open: Promise<void>[] = []
    while (clock.now() < untilMs) {
      const partition = this.dice.between(0, plan.lanes.sourcePartitions - 1)
      if (this.dice.chance(plan.source.transactional)) open.push(this.transaction(partition))
      else this.append(partition)
      await clock.sleep(this.dice.between(1, 2 * plan.source.everyMs))
    }
    await Promise.all(open)
  }

  /** One batch, in no transaction. */
  append(partition: number, kind?: RecordKind): void {
    const { clock, model } = this.world
    const topic = model.topics.find(topics.source)
    const found = topic?.partitions[partition]
    if (topic === undefined || found === undefined) return
    found.log.append(this.batch(partition, kind).build(plain), {
      nowMs: clock.now(),
      leaderEpoch: found.leaderEpoch,
      segments: model.topics.segmentLimits(topic),
      usesAppendTime: false,
      isUnverified: false,
      startsAtZero: false,
    })
  }

  private batch(partition: number, kind?: RecordKind): BatchBuilder {
    const { clock, plan } = this.world
    const builder = new BatchBuilder({ maxBytes: 1_000_000 })
    for (let left = this.dice.between(1, plan.source.batchMax); left > 0; left--) {
      const value = Buffer.from(`${kind ?? this.kind()}-${partition}-${++this.written}`)
      builder.tryAppend({ key: Buffer.from(this.dice.pick(keys)), value, timestampMs: clock.now() })
    }
    return builder
  }

  private kind(): RecordKind {
    const { rejected, poison } = this.world.plan.source
    if (this.dice.chance(poison)) return 'poison'
    if (this.dice.chance(rejected)) return 'rejected'
    return this.dice.pick(['once', 'once', 'once', 'twice', 'dropped'])
  }

  /** Records whose transaction nobody ends: it times out. */
  async holdOpen(partition: number): Promise<void> {
    const id = `writer-${++this.transactions}`
    await this.produce(id, await this.begin(id, partition), partition)
  }

  /** A writer whose brokers fail it dies, and leaves its transaction to the timeout. */
  private async transaction(partition: number): Promise<void> {
    const { clock, journal, plan, weather } = this.world
    const id = `writer-${++this.transactions}`
    try {
      const identity = await this.begin(id, partition)
      for (let batches = this.dice.between(1, 3); batches > 0; batches--) {
        await this.produce(id, identity, partition)
        await clock.sleep(this.dice.between(0, 1_500))
      }
      if (weather.isRough && this.dice.chance(plan.source.heldOpen)) {
        journal.fault('source-held-open', id)
        return
      }
      const aborts = weather.isRough && this.dice.chance(plan.source.aborted)
      if (aborts) journal.fault('source-aborted', id)
      await this.end(id, identity, !aborts)
    } catch (error) {
      journal.note(id, `dies: ${String(error)}`)
    }
  }

  private async begin(id: string, partition: number): Promise<Identity> {
    const { producerId, producerEpoch, errorCode } = (
      await this.cluster.request(
        { to: 'transaction-coordinator', key: id },
        'InitProducerId',
        { transactionalId: id, transactionTimeoutMs: this.transactionTimeoutMs, producerId: -1n, producerEpoch: -1 },
        this.soon(),
      )
    ).body
    if (errorCode !== 0) throw new Error(`InitProducerId ${errorCode}`)
    const { body } = await this.cluster.request(
      { to: 'transaction-coordinator', key: id },
      'AddPartitionsToTxn',
      {
        v3AndBelowTransactionalId: id,
        v3AndBelowProducerId: producerId,
        v3AndBelowProducerEpoch: producerEpoch,
        v3AndBelowTopics: [{ name: topics.source, partitions: [partition] }],
      },
      this.soon(),
      { maxVersion: 3 },
    )
    const code = body.resultsByTopicV3AndBelow[0]?.resultsByPartition[0]?.partitionErrorCode
    if (code !== 0) throw new Error(`AddPartitionsToTxn ${code}`)
    return { producerId, producerEpoch, sequence: 0 }
  }

  private async produce(id: string, identity: Identity, partition: number): Promise<void> {
    const { producerId, producerEpoch, sequence: baseSequence } = identity
    const batch = this.batch(partition)
    const records = batch.build({ producerId, producerEpoch, baseSequence, transactional: true })
    const topicData = [{ name: topics.source, partitionData: [{ index: partition, records }] }]
    const { body } = await this.cluster.request(
      { to: 'leader', topic: topics.source, partition },
      'Produce',
      { transactionalId: id, acks: -1, timeoutMs: 1_000, topicData },
      this.soon(),
      { maxVersion: this.world.plan.protocol === 2 ? 12 : 11 },
    )
    const code = body.responses[0]?.partitionResponses[0]?.errorCode
    if (code !== 0) throw new Error(`Produce ${code}`)
    identity.sequence += batch.count
  }

  private async end(id: string, { producerId, producerEpoch }: Identity, committed: boolean): Promise<void> {
    const { body } = await this.cluster.request(
      { to: 'transaction-coordinator', key: id },
      'EndTxn',
      { transactionalId: id, producerId, producerEpoch, committed },
      this.soon(),
    )
    if (body.errorCode !== 0) throw new Error(`EndTxn ${body.errorCode}`)
  }

  private soon() {
    return deadlineIn(this.world.clock, 2_000)
  }
}

interface Identity {
  readonly producerId: bigint
  readonly producerEpoch: number
  sequence: number
}
