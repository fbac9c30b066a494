/** What people do to a cluster and a fence table by hand, on purpose or by mistake. */
import type { FenceChanges, FenceRecord } from '../../lib/fencing/fence-record.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import type { Cluster, Target } from '../../lib/kafka/cluster.ts'
import { fetchCommitted } from '../../lib/kafka/committed.ts'
import { kafkaErrorName } from '../../lib/kafka/errors.ts'
import type { TopicPartition } from '../../lib/kafka/record.ts'
import type { LaneId } from '../../lib/relay/lane-id.ts'
import { planReset } from '../../lib/relay/operator/plan-reset.ts'
import { resetLane } from '../../lib/relay/operator/reset-lane.ts'
import { resumeLane as resume } from '../../lib/relay/operator/resume-lane.ts'
import { relayTopics } from '../../lib/relay/relay-topics.ts'
import { soon } from './fences.ts'
import { within } from './kafka-client.ts'
import type { RelayWorld } from './relay-world.ts'
import { createTopicNamed, type TopicOptions } from './topics.ts'

const any = { to: 'any' } as const
const coordinatorOf = ({ group }: LaneId): Target => ({ to: 'group-coordinator', key: group })

function assertDone(what: string, code: number | undefined): void {
  if (code !== 0) throw new Error(`${what} was answered ${kafkaErrorName(code ?? -1)}`)
}

/** The lane's committed offset as Kafka has it, with who committed it. A commit is answered before its offsets are stable. */
export async function committedBy(
  cluster: Cluster,
  lane: LaneId,
): Promise<{ offset: bigint | null; metadata: string }> {
  const places = lane.partitions.map((partition) => ({ topic: lane.topic, partition }))
  const question = { group: lane.group, partitions: places, requireStable: true }
  for (const deadline = within(10_000); deadline.remainingMs() > 0; await cluster.clock.sleep(5)) {
    const [answer] = await fetchCommitted(cluster, question, deadline)
    if (answer && 'offset' in answer) return answer
  }
  throw new Error('the committed offset is not known')
}

/** A plain OffsetCommit, as `kafka-consumer-groups --reset-offsets` sends it; a memberless group takes it from anybody. */
export async function moveOffset(cluster: Cluster, lane: LaneId, to: number, metadata = ''): Promise<void> {
  const partitions = lane.partitions.map((partitionIndex) => ({
    partitionIndex,
    committedOffset: BigInt(to),
    committedMetadata: metadata,
  }))
  const body = { groupId: lane.group, topics: [{ name: lane.topic, partitions }] }
  const { body: answer } = await cluster.request(coordinatorOf(lane), 'OffsetCommit', body, within(10_000), {
    maxVersion: 9,
  })
  assertDone('OffsetCommit', answer.topics[0]?.partitions[0]?.errorCode)
}

export async function deleteGroup(cluster: Cluster, lane: LaneId): Promise<void> {
  const body = { groupsNames: [lane.group] }
  const { body: answer } = await cluster.request(coordinatorOf(lane), 'DeleteGroups', body, within(10_000))
  assertDone('DeleteGroups', answer.results[0]?.errorCode)
}

/** The log of the partition begins at `offset` now, as after retention. */
export async function deleteRecords(cluster: Cluster, place: TopicPartition, offset: number): Promise<void> {
  const partitions = [{ partitionIndex: place.partition, offset: BigInt(offset) }]
  const body = { topics: [{ name: place.topic, partitions }], timeoutMs: 10_000 }
  const { body: answer } = await cluster.request({ to: 'leader', ...place }, 'DeleteRecords', body, within(15_000))
  assertDone('DeleteRecords', answer.topics[0]?.partitions[0]?.errorCode)
}

export async function deleteTopic(cluster: Cluster, name: string): Promise<void> {
  const topicId = '00000000-0000-0000-0000-000000000000'
  const body = { topics: [{ name, topicId }], timeoutMs: 10_000 }
  const { body: answer } = await cluster.request(any, 'DeleteTopics', body, within(15_000))
  assertDone('DeleteTopics', answer.responses[0]?.errorCode)
  for (const deadline = within(20_000); deadline.remainingMs() > 0; await cluster.clock.sleep(20)) {
    if (!(await cluster.topics([name], deadline, 'fresh')).has(name)) return
  }
  throw new Error(`${name} is still there after 20 s`)
}

export async function recreateTopic(cluster: Cluster, name: string, options: TopicOptions = {}): Promise<void> {
  await deleteTopic(cluster, name)
  await createTopicNamed(cluster, name, options)
}

/** Resolves when the brokers know all of the topic's partitions and their leaders. */
export async function addPartitions(cluster: Cluster, name: string, count: number): Promise<void> {
  const body = { topics: [{ name, count, assignments: null }], timeoutMs: 10_000, validateOnly: false }
  const { body: answer } = await cluster.request(any, 'CreatePartitions', body, within(15_000))
  assertDone('CreatePartitions', answer.results[0]?.errorCode)
  for (const deadline = within(20_000); deadline.remainingMs() > 0; await cluster.clock.sleep(20)) {
    const partitions = (await cluster.topics([name], deadline, 'fresh')).get(name)?.partitions ?? []
    if (partitions.length === count && partitions.every(({ leader }) => leader !== null)) return
  }
  throw new Error(`${name} has not ${count} partitions after 20 s`)
}

export async function setTopicConfig(cluster: Cluster, topic: string, name: string, value: string): Promise<void> {
  const [topicResource, set] = [2, 0]
  const configs = [{ name, configOperation: set, value }]
  const resources = [{ resourceType: topicResource, resourceName: topic, configs }]
  const body = { resources, validateOnly: false }
  const { body: answer } = await cluster.request(any, 'IncrementalAlterConfigs', body, within(10_000))
  assertDone('IncrementalAlterConfigs', answer.responses[0]?.errorCode)
}

/** Writes a free fence record as nobody but a person would. */
export async function editFence(fences: FenceStore, id: string, changes: FenceChanges): Promise<void> {
  const record = await fenceOf(fences, id)
  const expected = { token: record.token, nonce: record.owner?.nonce ?? null }
  const write = { kind: 'update', id, expected, revision: record.revision + 1, changes, writer: 'operator' } as const
  const { kind } = await fences.write(write, soon())
  if (kind !== 'written') throw new Error(`the fence record of ${id} was changed by somebody else`)
}

export async function fenceOf(fences: FenceStore, id: string): Promise<FenceRecord> {
  const record = await fences.read(id, soon())
  if (record === null) throw new Error(`there is no fence record of ${id}`)
  return record
}

/** Lets a stopped lane go on from where it is, or from `to`, as the operators' commands do. */
export async function resumeLane(world: RelayWorld, to?: number): Promise<void> {
  const operator = await world.container({ settings: { generation: null, container: 'operator' } })
  const id = world.lane()
  if (to === undefined) return void (await resume(operator, id, within(10_000)))
  const topics = await relayTopics(operator, within(10_000), 'fresh')
  const place = { to: 'offsets', offsets: new Map(id.partitions.map((partition) => [partition, BigInt(to)])) } as const
  const plans = await planReset(operator, topics, { lanes: [id], place, acceptNewSource: true }, within(10_000))
  for (const plan of plans) await resetLane(operator, topics, plan, within(20_000))
}
