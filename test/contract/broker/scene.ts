import type { TopicPartition } from '../../../lib/kafka/record.ts'
import { readBatches } from '../../../lib/kafka/record-batch/decode.ts'
import type { BrokerClient, Generation, Producer } from './client.ts'

export interface BrokerUnderTest {
  readonly client: BrokerClient
  /** Of groups: the one of Kafka 4, or the one before it. */
  readonly coordinator: 'new' | 'classic'
  /** Of topics, groups and ids: tests share brokers. */
  freshName(prefix: string): string
  /** Does a test's work; a virtual clock leaps over its waits. */
  run<T>(work: Promise<T>): Promise<T>
  close(): Promise<void>
}

/** What a test begins with: a topic of two partitions, a group and a transactional id of its own. */
export interface Scene {
  readonly generation: Generation
  readonly coordinator: BrokerUnderTest['coordinator']
  readonly client: BrokerClient
  readonly topic: string
  readonly topicId: string
  readonly first: TopicPartition
  readonly second: TopicPartition
  readonly missing: TopicPartition
  readonly group: string
  readonly id: string
  freshName(prefix: string): string
}

/** Defines one test. */
export type Define = (title: string, body: (scene: Scene) => Promise<void>) => void

export async function sceneOf(broker: BrokerUnderTest, generation: Generation): Promise<Scene> {
  const { client, coordinator, freshName } = broker
  const topic = freshName('topic')
  const topicId = await client.createTopic(topic, 2)
  return {
    generation,
    coordinator,
    client,
    topic,
    topicId,
    first: { topic, partition: 0 },
    second: { topic, partition: 1 },
    missing: { topic: freshName('missing'), partition: 0 },
    group: freshName('group'),
    id: freshName('id'),
    freshName,
  }
}

/** Partitions and group become part of the transaction, unless the requests of this generation see to it themselves. */
export async function join(scene: Scene, producer: Producer, partitions: readonly TopicPartition[]): Promise<void> {
  if (scene.generation === 2) return
  const { client, group } = scene
  const codes = await client.settled(
    () => client.addPartitions(producer, ...partitions),
    ([code]) => code,
  )
  const offsetsCode = await client.settled(
    () => client.addOffsets(producer, group),
    (code) => code,
  )
  if ([...codes, offsetsCode].some((code) => code !== 0)) throw new Error(`joining answered ${codes}, ${offsetsCode}`)
}

/** A transaction with one record in `first` and `offset` committed, open. */
export async function openTransaction(scene: Scene, offset = 100n): Promise<Producer> {
  const producer = await scene.client.begin(scene.id)
  await writeWindow(scene, producer, offset)
  return producer
}

export async function writeWindow(scene: Scene, producer: Producer, offset: bigint, sequence = 0): Promise<void> {
  const { client, generation, first, group } = scene
  await join(scene, producer, [first])
  const produced = await client.produce(generation, producer, first, { sequence, values: [`window ${offset}`] })
  const code = await client.settled(
    () => client.commitOffset(generation, producer, group, first, offset),
    (answer) => answer,
  )
  if (produced.code !== 0 || code !== 0) throw new Error(`the window was answered ${produced.code}, ${code}`)
}

/** A window, committed; answers who the producer is afterwards. */
export async function commitWindow(scene: Scene, producer: Producer, offset: bigint, sequence = 0): Promise<Producer> {
  await writeWindow(scene, producer, offset, sequence)
  return scene.client.endAndWait(scene.generation, producer, true)
}

export const nextEpoch = (producer: Producer): Producer => ({ ...producer, producerEpoch: producer.producerEpoch + 1 })

/** Values that a read_uncommitted reader finds, markers left out. */
export async function allValues({ client }: Scene, of: TopicPartition): Promise<readonly string[]> {
  return (await batchesOf(client, of))
    .filter(({ isControl }) => !isControl)
    .flatMap((batch) => batch.records().map(({ value }) => String(value)))
}

/** What happened to the partition, in order: values, commits, aborts. */
export async function history({ client }: Scene, of: TopicPartition): Promise<readonly string[]> {
  return (await batchesOf(client, of)).flatMap((batch) =>
    batch.isControl ? [`(${batch.controlKind()})`] : batch.records().map(({ value }) => String(value)),
  )
}

async function batchesOf(client: BrokerClient, of: TopicPartition) {
  const { offset: from = 0n } = await client.listOffset(of, -2n)
  const { records } = await client.fetch(of, from, { isolation: 0 })
  return [...readBatches(records ?? Buffer.alloc(0), of)]
}
