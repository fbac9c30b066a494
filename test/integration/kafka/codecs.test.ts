import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster, Target } from '../../../lib/kafka/cluster.ts'
import { type Api, apis, type RequestOf } from '../../../lib/kafka/protocol/generated/index.ts'
import { kafkaVersions } from '../../../lib/local/kafka-jars.ts'
import { batchOf, clusterAt, initProducer, type Producer, plainIdentity, within } from '../../helpers/kafka-client.ts'
import { freshName, kafkaBrokers } from '../../helpers/stack.ts'
import { createTopic } from '../../helpers/topics.ts'

/** What the requests are about. */
interface Subject {
  readonly topic: string
  readonly topicId: string
  readonly group: string
  readonly transactionalId: string
  readonly producer: Producer
}

const noId = '00000000-0000-0000-0000-000000000000'

const anyAcl = {
  resourceTypeFilter: 2,
  patternTypeFilter: 3,
  principalFilter: null,
  hostFilter: null,
  operation: 1,
  permissionType: 1,
}

type Requests = { readonly [A in Api]: (subject: Subject) => RequestOf<A> }

/** One harmless request of each kind, with a topic, a group and a transactional id that exist. */
const requests: Requests = {
  ApiVersions: () => ({ clientSoftwareName: 'fencepost', clientSoftwareVersion: '1' }),
  Metadata: ({ topic }) => ({
    topics: [{ name: topic }],
    allowAutoTopicCreation: false,
    includeTopicAuthorizedOperations: true,
  }),
  FindCoordinator: ({ group }) => ({ keyType: 0, coordinatorKeys: [group, `${group}-2`] }),
  InitProducerId: () => ({ transactionalId: null, transactionTimeoutMs: 1_000, producerId: -1n, producerEpoch: -1 }),
  AddPartitionsToTxn: ({ transactionalId, producer, topic }) => ({
    v3AndBelowTransactionalId: transactionalId,
    v3AndBelowProducerId: producer.producerId,
    v3AndBelowProducerEpoch: producer.producerEpoch,
    v3AndBelowTopics: [{ name: topic, partitions: [0] }],
  }),
  AddOffsetsToTxn: ({ transactionalId, producer, group }) => ({ transactionalId, groupId: group, ...producer }),
  Produce: ({ topic }) => ({
    transactionalId: null,
    acks: -1,
    timeoutMs: 5_000,
    topicData: [{ name: topic, partitionData: [{ index: 0, records: batchOf(['value'], plainIdentity) }] }],
  }),
  TxnOffsetCommit: ({ transactionalId, producer, group, topic }) => ({
    transactionalId,
    groupId: group,
    ...producer,
    topics: [{ name: topic, partitions: [{ partitionIndex: 0, committedOffset: 1n, committedMetadata: null }] }],
  }),
  EndTxn: ({ transactionalId, producer }) => ({ transactionalId, ...producer, committed: false }),
  OffsetFetch: ({ group, topic }) => ({
    groups: [{ groupId: group, topics: [{ name: topic, partitionIndexes: [0] }] }],
    requireStable: true,
  }),
  Fetch: ({ topicId }) => ({
    maxWaitMs: 10,
    minBytes: 1,
    isolationLevel: 1,
    topics: [{ topicId, partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 10_000 }] }],
    forgottenTopicsData: [],
  }),
  ListOffsets: ({ topic }) => ({
    replicaId: -1,
    isolationLevel: 1,
    topics: [{ name: topic, partitions: [{ partitionIndex: 0, currentLeaderEpoch: 0, timestamp: -1n }] }],
  }),
  ListTransactions: () => ({ stateFilters: ['Ongoing'], producerIdFilters: [] }),
  DescribeTransactions: ({ transactionalId }) => ({ transactionalIds: [transactionalId] }),
  DescribeProducers: ({ topic }) => ({ topics: [{ name: topic, partitionIndexes: [0] }] }),
  WriteTxnMarkers: () => ({ markers: [] }),
  DescribeConfigs: ({ topic }) => ({
    resources: [{ resourceType: 2, resourceName: topic, configurationKeys: ['max.message.bytes'] }],
  }),
  DescribeCluster: () => ({ includeClusterAuthorizedOperations: true }),
  OffsetCommit: ({ group, topic }) => ({
    groupId: group,
    generationIdOrMemberEpoch: -1,
    memberId: '',
    topics: [{ name: topic, partitions: [{ partitionIndex: 0, committedOffset: 1n, committedMetadata: 'm' }] }],
  }),
  CreateTopics: ({ topic }) => ({
    topics: [
      {
        name: `${topic}.more`,
        numPartitions: 1,
        replicationFactor: 1,
        assignments: [],
        configs: [{ name: 'retention.ms', value: '1000000' }],
      },
    ],
    timeoutMs: 5_000,
  }),
  DeleteTopics: ({ topic }) => ({ topics: [{ name: `${topic}.more`, topicId: noId }], timeoutMs: 5_000 }),
  CreatePartitions: ({ topic }) => ({
    topics: [{ name: topic, count: 2, assignments: null }],
    timeoutMs: 5_000,
    validateOnly: true,
  }),
  DescribeGroups: ({ group }) => ({ groups: [group], includeAuthorizedOperations: true }),
  DeleteGroups: ({ group }) => ({ groupsNames: [`${group}-none`] }),
  OffsetDelete: ({ group, topic }) => ({
    groupId: group,
    topics: [{ name: topic, partitions: [{ partitionIndex: 0 }] }],
  }),
  IncrementalAlterConfigs: ({ topic }) => ({
    resources: [
      {
        resourceType: 2,
        resourceName: topic,
        configs: [{ name: 'retention.ms', configOperation: 0, value: '2000000' }],
      },
    ],
    validateOnly: true,
  }),
  JoinGroup: ({ group }) => ({
    groupId: `${group}-classic`,
    sessionTimeoutMs: 10_000,
    memberId: '',
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
  }),
  SyncGroup: ({ group }) => ({ groupId: `${group}-classic`, generationId: 1, memberId: 'm', assignments: [] }),
  Heartbeat: ({ group }) => ({ groupId: `${group}-classic`, generationId: 1, memberId: 'm' }),
  LeaveGroup: ({ group }) => ({ groupId: `${group}-classic`, members: [{ memberId: 'm' }] }),
  DeleteRecords: ({ topic }) => ({
    topics: [{ name: topic, partitions: [{ partitionIndex: 0, offset: 0n }] }],
    timeoutMs: 5_000,
  }),
  CreateAcls: ({ topic }) => ({
    creations: [
      {
        resourceType: 2,
        resourceName: topic,
        principal: 'User:ann',
        host: '*',
        operation: 3,
        permissionType: 3,
      },
    ],
  }),
  DescribeAcls: ({ topic }) => ({ ...anyAcl, resourceNameFilter: topic }),
  DeleteAcls: ({ topic }) => ({ filters: [{ ...anyAcl, resourceNameFilter: topic }] }),
}

const transactional: readonly Api[] = [
  'AddPartitionsToTxn',
  'AddOffsetsToTxn',
  'EndTxn',
  'DescribeTransactions',
  'InitProducerId',
]
const ofGroups: readonly Api[] = [
  'TxnOffsetCommit',
  'OffsetFetch',
  'OffsetCommit',
  'DescribeGroups',
  'DeleteGroups',
  'OffsetDelete',
  'JoinGroup',
  'SyncGroup',
  'Heartbeat',
  'LeaveGroup',
]

function targetOf(api: Api, { group, transactionalId }: Subject): Target {
  if (transactional.includes(api)) return { to: 'transaction-coordinator', key: transactionalId }
  if (ofGroups.includes(api)) return { to: 'group-coordinator', key: group }
  return { to: 'any' }
}

const everyVersion = Object.values(apis).flatMap(({ name, versions: { min, max } }) =>
  Array.from({ length: max - min + 1 }, (_, index) => ({ name, api: name, version: min + index })),
)

describe.each(kafkaVersions)('Kafka %s and the generated codecs', (kafka) => {
  let cluster: Cluster
  let subject: Subject
  beforeAll(async () => {
    const brokers = await kafkaBrokers(kafka)
    cluster = clusterAt(brokers)
    const topic = await createTopic(brokers, 'codecs')
    const topicId = (await cluster.topics([topic], within(5_000))).get(topic)?.topicId ?? ''
    const [transactionalId, group] = [freshName('codecs'), freshName('codecs')]
    const producer = await initProducer(cluster, transactionalId)
    subject = { topic, topicId, transactionalId, group, producer }
  })
  afterAll(() => cluster.close())

  const spoken = everyVersion.filter(({ api, version }) => kafka === '4.1' || (maxOn39[api] ?? version) >= version)

  test.each(spoken)('understand each other in $name $version', async ({ api, version }) => {
    const answer = await ask(cluster, api, version, subject)
    expect(answer.version).toBe(version)
    expect(codesIn(answer.body).filter((code) => code === 42 || code === 35)).toEqual([])
  })
})

/** Where 3.9 ends below what is spoken. */
const maxOn39: Partial<Record<Api, number>> = { Produce: 11, TxnOffsetCommit: 4, EndTxn: 4, ApiVersions: 4 }

function ask<A extends Api>(cluster: Cluster, api: A, version: number, subject: Subject) {
  const body = (requests[api] as Requests[A])(subject)
  const bounds = { minVersion: version, maxVersion: version }
  return cluster.request(targetOf(api, subject), api, body, within(10_000), bounds)
}

/** All error codes of an answer: INVALID_REQUEST and UNSUPPORTED_VERSION would show that the broker read something else. */
function codesIn(value: unknown): number[] {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    /errorCode$/i.test(name) && typeof inner === 'number' ? [inner] : codesIn(inner),
  )
}
