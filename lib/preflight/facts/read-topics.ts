import type { Deadline } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { classify } from '../../kafka/errors.ts'
import { denialText } from '../../kafka/missing-acl.ts'
import type { ResponseOf } from '../../kafka/protocol/generated/index.ts'
import { describeTopicConfigs } from '../../kafka/topic-configs.ts'
import type { CompiledRelay } from '../../relay/compiled-relay.ts'
import type { TopicRole } from '../../relay/topic-rules.ts'
import { type Told, told, untold } from '../finding.ts'
import type { TopicFacts, TopicState } from './facts.ts'
import { brokerSettings } from './read-cluster.ts'

/** Where Kafka itself keeps transactions and committed offsets, made when first needed, with so many copies. */
export const internalTopics: ReadonlyMap<string, string> = new Map([
  ['__transaction_state', brokerSettings.transactionsCopies],
  ['__consumer_offsets', brokerSettings.offsetsCopies],
])

/** Settings of topics that checks look at. */
export const topicSettings = [
  'min.insync.replicas',
  'unclean.leader.election.enable',
  'cleanup.policy',
  'max.message.bytes',
  'retention.ms',
  'retention.bytes',
] as const

type Roles = ReadonlySet<TopicRole | 'internal'>

/** The topics of these relays and Kafka's own two, each with what it is for. */
export function rolesOf(relays: readonly CompiledRelay[]): ReadonlyMap<string, Roles> {
  const roles = new Map<string, Set<TopicRole | 'internal'>>()
  const add = (topic: string, role: TopicRole | 'internal') =>
    void roles.set(topic, (roles.get(topic) ?? new Set()).add(role))
  for (const { sourceTopic, outputTopics, deadLetters } of relays) {
    add(sourceTopic, 'source')
    for (const topic of outputTopics) add(topic, topic === deadLetters ? 'dead letters' : 'output')
  }
  for (const topic of internalTopics.keys()) add(topic, 'internal')
  return roles
}

/** Asked without the cache, topic by topic in one request: one that may not be described must not hide the others. */
export async function readTopics(
  cluster: Cluster,
  relays: readonly CompiledRelay[],
  deadline: Deadline,
): Promise<readonly TopicFacts[]> {
  const roles = rolesOf(relays)
  const body = {
    topics: [...roles.keys()].map((name) => ({ name })),
    allowAutoTopicCreation: false,
    includeTopicAuthorizedOperations: false,
  }
  const [{ body: metadata }, configs] = await Promise.all([
    cluster.request({ to: 'any' }, 'Metadata', body, deadline),
    describeTopicConfigs(cluster, [...roles.keys()], topicSettings, deadline),
  ])
  const answers = new Map(metadata.topics.map((topic) => [topic.name, topic]))
  return [...roles].map(([name, itsRoles]) => ({
    name,
    roles: itsRoles,
    state: stateOf(name, answers.get(name), configs.get(name)),
  }))
}

type TopicAnswer = ResponseOf<'Metadata'>['topics'][number]

function stateOf(
  name: string,
  answer: TopicAnswer | undefined,
  configs: ReadonlyMap<string, string> | undefined,
): Told<TopicState | null> {
  if (answer === undefined) return untold('the broker left it out of its answer')
  const { verdict } = classify('Metadata', answer.errorCode)
  if (verdict === 'missing') return told(null)
  if (verdict !== 'ok') return untold(denialText('Metadata', answer.errorCode, { topic: name }))
  const { topicId, partitions } = answer
  return told({
    topicId,
    partitions: partitions.length,
    leaderless: partitions.filter(({ leaderId }) => leaderId < 0).map(({ partitionIndex }) => partitionIndex),
    copies: Math.min(...partitions.map(({ replicaNodes }) => replicaNodes.length)),
    settings: configs ? told(configs) : untold('this user lacks the ACL DescribeConfigs on the topic'),
  })
}
