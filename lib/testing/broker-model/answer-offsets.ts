import type { RequestOf, ResponseOf } from '../../kafka/protocol/generated/index.ts'
import type { TopicPartition } from '../../kafka/record.ts'
import type { ClusterModel } from './cluster-model.ts'
import { codes } from './codes.ts'
import type { FetchedOffset, GroupCoordinator, GroupOffset } from './group-coordinator.ts'
import type { ModelNode } from './node.ts'
import { checkCoordinator } from './serving.ts'

/** OffsetFetch. Source: Kafka `OffsetMetadataManager.fetchOffsets`; KIP-447. An ex-coordinator answers what it knew (P1). */
export function answerOffsetFetch(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'OffsetFetch'>,
): ResponseOf<'OffsetFetch'> {
  const groups = body.groups.map(({ groupId, topics }) => {
    const coordinator = coordinatorAsSeenBy(model, node, groupId)
    if (coordinator === null) return { groupId, topics: [], errorCode: codes.NOT_COORDINATOR }
    const asked = topics === null ? coordinator.committedPartitions(groupId) : topics.flatMap(partitionsOf)
    const fetch = (partition: TopicPartition) => coordinator.fetch(groupId, partition, body.requireStable ?? false)
    return { groupId, topics: byTopic(asked, (one) => fetched(one, fetch(one))), errorCode: codes.NONE }
  })
  return { throttleTimeMs: 0, groups }
}

function fetched({ partition }: TopicPartition, { code, committed }: FetchedOffset) {
  return {
    partitionIndex: partition,
    committedOffset: committed?.offset ?? -1n,
    committedLeaderEpoch: committed?.leaderEpoch ?? -1,
    metadata: committed?.metadata ?? '',
    errorCode: code,
  }
}

function coordinatorAsSeenBy(model: ClusterModel, node: ModelNode, group: string): GroupCoordinator | null {
  const partition = model.groupPartition(group)
  if (partition.leader === node.id) return model.groupCoordinator(partition.partition)
  return node.viewOf(partition)?.groups ?? null
}

interface CommitAsk extends GroupOffset {
  readonly code: number
}

/** OffsetCommit, from outside of any group membership. Source: Kafka `OffsetMetadataManager.commitOffset`. */
export function answerOffsetCommit(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'OffsetCommit'>,
  version: number,
): ResponseOf<'OffsetCommit'> {
  const { groupId, generationIdOrMemberEpoch: generation = -1, memberId = '' } = body
  const asks = body.topics.flatMap(({ name = '', partitions }) => partitions.map((one) => commitAsk(model, name, one)))
  const code = checkGroup(model, node, groupId, generation, memberId, notFound(model, version))
  const accepted = asks.filter((ask) => ask.code === codes.NONE)
  const coordinator = model.groupCoordinator(model.groupPartition(groupId).partition)
  if (code === codes.NONE && accepted.length > 0) coordinator.commit(groupId, accepted, model.clock.now())
  return { throttleTimeMs: 0, topics: byTopic(asks, (ask) => committed(ask, ask.code || code)) }
}

/** From this version on the broker adds the offsets partition to the transaction by itself (KIP-890). */
const implicitJoinVersion = 5
/** From this version on a client understands 120. */
const abortableVersion = 4

/** TxnOffsetCommit. Source: Kafka `OffsetMetadataManager.commitTransactionalOffset`, `CoordinatorPartitionWriter`. */
export function answerTxnOffsetCommit(
  model: ClusterModel,
  node: ModelNode,
  body: RequestOf<'TxnOffsetCommit'>,
  version: number,
): ResponseOf<'TxnOffsetCommit'> {
  const { groupId, generationId = -1, memberId = '' } = body
  const asks = body.topics.flatMap(({ name, partitions }) => partitions.map((one) => commitAsk(model, name, one)))
  const accepted = asks.filter((ask) => ask.code === codes.NONE)
  let code: number = codes.NONE
  if (accepted.length > 0) {
    const group = checkGroup(model, node, groupId, generationId, memberId, codes.ILLEGAL_GENERATION)
    code = group || verifyOffsets(model, body, version, accepted)
    const coordinator = model.groupCoordinator(model.groupPartition(groupId).partition)
    if (code === codes.NONE) code = coordinator.commitPending(groupId, body, accepted, model.clock.now())
  }
  return { throttleTimeMs: 0, topics: byTopic(asks, (ask) => committed(ask, ask.code || code)) }
}

function verifyOffsets(
  model: ClusterModel,
  body: RequestOf<'TxnOffsetCommit'>,
  version: number,
  accepted: readonly TopicPartition[],
): number {
  const { transactionalId, producerId, producerEpoch, groupId } = body
  const partition = model.groupPartition(groupId)
  const coordinator = model.groupCoordinator(partition.partition)
  const { producers } = coordinator
  const fenced = producers.checkEpoch(producerId, producerEpoch)
  const isNotedFirst = model.transactionVersion === 1 && producers.isInTransaction(producerId)
  if (fenced !== codes.NONE && isNotedFirst) coordinator.dropNoted(groupId, producerId, accepted)
  if (fenced !== codes.NONE) return fenced
  const isOpen = producers.hasOpenTransaction(producerId, producerEpoch)
  if (isOpen || !model.config.partitionVerification) return codes.NONE
  const code =
    version >= implicitJoinVersion
      ? model.transactions.add(transactionalId, body, [partition])
      : model.transactions.verify(transactionalId, body, partition)
  if (code === codes.PRODUCER_FENCED) return codes.INVALID_PRODUCER_EPOCH
  return code === codes.TRANSACTION_ABORTABLE && version < abortableVersion ? codes.INVALID_TXN_STATE : code
}

interface AskedCommit {
  readonly partitionIndex: number
  readonly committedOffset: bigint
  readonly committedLeaderEpoch?: number
  readonly committedMetadata: string | null
}

function commitAsk(model: ClusterModel, topic: string, asked: AskedCommit): CommitAsk {
  const metadata = asked.committedMetadata ?? ''
  const isKnown = model.topics.partition(topic, asked.partitionIndex) !== undefined
  const isTooLong = metadata.length > model.config.offsetMetadataBytesMax
  const refusal = isTooLong ? codes.OFFSET_METADATA_TOO_LARGE : codes.NONE
  return {
    topic,
    partition: asked.partitionIndex,
    offset: asked.committedOffset,
    leaderEpoch: asked.committedLeaderEpoch ?? -1,
    metadata,
    code: isKnown ? refusal : codes.UNKNOWN_TOPIC_OR_PARTITION,
  }
}

const committed = ({ partition }: TopicPartition, errorCode: number) => ({ partitionIndex: partition, errorCode })

/** Groups of the model never have members, so whoever claims to be one is unknown. */
function checkGroup(
  model: ClusterModel,
  node: ModelNode,
  group: string,
  generation: number,
  memberId: string,
  ifUnknown: number,
): number {
  if (group === '') return codes.INVALID_GROUP_ID
  const partition = model.groupPartition(group)
  const code = checkCoordinator(node, partition)
  if (code !== codes.NONE) return code
  const isKnown = model.groupCoordinator(partition.partition).has(group)
  if (!isKnown) return generation >= 0 ? ifUnknown : codes.NONE
  return generation >= 0 || memberId !== '' ? codes.UNKNOWN_MEMBER_ID : codes.NONE
}

/** What members of groups that do not exist are told by OffsetCommit (KIP-848 changed it). */
function notFound({ transactionVersion }: ClusterModel, version: number): number {
  return transactionVersion === 2 && version >= 9 ? codes.GROUP_ID_NOT_FOUND : codes.ILLEGAL_GENERATION
}

interface AskedTopic {
  readonly name?: string
  readonly partitionIndexes: readonly number[]
}

const partitionsOf = ({ name = '', partitionIndexes }: AskedTopic): TopicPartition[] =>
  partitionIndexes.map((partition) => ({ topic: name, partition }))

function byTopic<T extends TopicPartition, R>(
  items: readonly T[],
  answer: (item: T) => R,
): { name: string; partitions: R[] }[] {
  const topics = new Map<string, R[]>()
  for (const item of items) {
    const partitions = topics.get(item.topic) ?? []
    topics.set(item.topic, [...partitions, answer(item)])
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }))
}
