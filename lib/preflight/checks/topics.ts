import type { Facts, TopicFacts, TopicState } from '../facts/facts.ts'
import { type Finding, fail, holds, ok, type Subject, unknown, warn } from '../finding.ts'

/** Whether the topics are there, led, and of a kind that the relay can read or write. */
export function topicChecks({ cluster, topics, relays }: Facts): readonly Finding[] {
  if (!topics.told) return cluster.told ? [unread(topics.why)] : []
  const known = new Map(topics.value.map((topic) => [topic.name, topic]))
  return [
    ...topics.value.filter(isUsers).flatMap((topic) => [...existence(topic), ...sourcePolicy(topic)]),
    ...relays.flatMap(({ sourceTopic, outputTopics }) =>
      outputTopics.flatMap((output) => messageSize(known.get(sourceTopic), known.get(output))),
    ),
  ]
}

/** Without a cluster nobody expects its topics; with one it is a finding of its own. */
const unread = (why: string): Finding =>
  fail(
    { id: 'topic.exists', about: 'topics', what: 'metadata', wanted: 'an answer' },
    why,
    "try again; see the brokers' logs",
  )

const isUsers = ({ roles }: TopicFacts): boolean => !roles.has('internal')
const stateOf = (topic: TopicFacts | undefined): TopicState | null => (topic?.state.told ? topic.state.value : null)
const settingOf = (topic: TopicFacts | undefined, name: string): string | undefined => {
  const settings = stateOf(topic)?.settings
  return settings?.told ? settings.value.get(name) : undefined
}

function existence({ name, roles, state }: TopicFacts): readonly Finding[] {
  const there: Subject = { id: 'topic.exists', about: name, what: 'topic', wanted: 'a topic that exists' }
  if (!state.told) return [fail(there, state.why, 'allow this user to use the topic: docs/operations/acls.md')]
  if (state.value === null) {
    const fix = `kafka-topics.sh --create --topic ${name} --partitions <n> --replication-factor 3 --config min.insync.replicas=2`
    return [fail(there, `missing (${[...roles].join(', ')})`, fix)]
  }
  const { partitions, leaderless } = state.value
  const led: Subject = { id: 'topic.leaders', about: name, what: 'partitions', wanted: 'a leader for each' }
  const found = leaderless.length === 0 ? String(partitions) : `${leaderless.join(', ')} without a leader`
  return [ok(there, 'exists'), holds(leaderless.length === 0, fail, led, found, 'start the brokers that hold them')]
}

/** A compacted source has lost records before anybody relays them: every key's last one only is certain. */
function sourcePolicy(topic: TopicFacts): readonly Finding[] {
  const policy = settingOf(topic, 'cleanup.policy')
  if (!topic.roles.has('source') || policy === undefined) return []
  const subject: Subject = { id: 'topic.source-policy', about: topic.name, what: 'cleanup.policy', wanted: 'delete' }
  const fix = `nothing, if the last record of each key is enough; else kafka-configs.sh --alter --topic ${topic.name} --add-config cleanup.policy=delete`
  return [holds(!policy.includes('compact'), warn, subject, policy, fix)]
}

/** What the source accepts must fit into the output, or it becomes a dead letter. */
function messageSize(source: TopicFacts | undefined, output: TopicFacts | undefined): readonly Finding[] {
  if (!source || !output || !stateOf(output)) return []
  const name = 'max.message.bytes'
  const [least, found] = [settingOf(source, name), settingOf(output, name)]
  const wanted = `${least ?? 'what its source accepts'} or more`
  const subject: Subject = { id: 'topic.message-bytes', about: output.name, what: name, wanted }
  if (least === undefined || found === undefined) {
    return [unknown(subject, 'may not be read', 'allow DescribeConfigs on both topics')]
  }
  const fix = `kafka-configs.sh --alter --topic ${output.name} --add-config ${name}=${least}`
  return [holds(Number(found) >= Number(least), warn, subject, found, fix)]
}
