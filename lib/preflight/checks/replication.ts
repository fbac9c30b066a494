import { topicFix, topicRules } from '../../relay/topic-rules.ts'
import type { ClusterFacts, Facts, TopicFacts, TopicState } from '../facts/facts.ts'
import { internalTopics } from '../facts/read-topics.ts'
import { type Finding, fail, holds, ok, type Subject, unknown, warn } from '../finding.ts'
import { ofEachBroker } from './each-broker.ts'

/** With two, of which both must acknowledge, each restart of a broker stops the relay. */
const copiesWanted = 3
/** With one, a broker takes what it has acknowledged with it. */
const copiesMin = 2

/** Whether acknowledged records survive the loss of a broker: outputs, sources, and Kafka's own two topics. */
export function replicationChecks({ cluster, topics, weakTopicsAccepted }: Facts): readonly Finding[] {
  if (!topics.told) return []
  return topics.value.flatMap((topic) => {
    const { state, roles } = topic
    if (state.told && state.value !== null) return ofTopic(topic, state.value, weakTopicsAccepted)
    if (!roles.has('internal')) return []
    if (!state.told) return [hidden(topic, state.why)]
    return cluster.told ? notMadeYet(topic, cluster.value, weakTopicsAccepted) : []
  })
}

/** A topic of Kafka's own that nobody has needed so far will have as many copies as the brokers say. */
function notMadeYet({ name }: TopicFacts, cluster: ClusterFacts, isAccepted: boolean): readonly Finding[] {
  const setting = internalTopics.get(name) ?? ''
  const subject: Subject = { id: 'topic.copies', about: name, what: setting, wanted: atLeast }
  const fix = `set ${setting}=3 on the brokers before it is made`
  return ofEachBroker(cluster, subject, setting, (value) =>
    accepted(isAccepted, judgeCopies(subject, Number(value), fix)),
  )
}

const hidden = ({ name }: TopicFacts, why: string): Finding =>
  unknown({ id: 'topic.copies', about: name, what: 'copies', wanted: atLeast }, why, 'ask whoever runs the cluster')

const atLeast = `${copiesWanted} or more`

const judgeCopies = (subject: Subject, copies: number, fix: string): Finding =>
  holds(copies >= copiesWanted, copies < copiesMin ? fail : warn, subject, String(copies), fix)

function ofTopic({ name, roles }: TopicFacts, state: TopicState, isAccepted: boolean): readonly Finding[] {
  const { copies, settings } = state
  const copiesSubject: Subject = { id: 'topic.copies', about: name, what: 'copies', wanted: atLeast }
  const fix = 'kafka-reassign-partitions.sh with three replicas for each partition'
  const seen = { name, roles: usersRoles(roles), copies }
  return [
    accepted(isAccepted, judgeCopies(copiesSubject, copies, fix)),
    ...topicRules
      .filter((rule) => rule.appliesTo(seen))
      .map((rule) => {
        const subject: Subject = {
          id: ruleIds[rule.setting] ?? '',
          about: name,
          what: rule.setting,
          wanted: rule.wanted,
        }
        if (!settings.told) return unknown(subject, settings.why, 'allow DescribeConfigs on the topic')
        const value = settings.value.get(rule.setting)
        if (value === undefined) return unknown(subject, 'not told', 'ask whoever runs the cluster')
        const finding = holds(rule.holds(value), fail, subject, value, `${topicFix(rule, name)} (${rule.why})`)
        return accepted(isAccepted && rule.acceptable, finding)
      }),
  ]
}

const ruleIds: Readonly<Record<string, string>> = {
  'min.insync.replicas': 'topic.min-isr',
  'unclean.leader.election.enable': 'topic.unclean-election',
  'cleanup.policy': 'topic.dead-letter-policy',
}

const accepted = (isAccepted: boolean, finding: Finding): Finding =>
  isAccepted && finding.status !== 'ok' ? ok(finding, `${finding.found} (accepted)`) : finding

function usersRoles(roles: TopicFacts['roles']): ReadonlySet<'source' | 'output' | 'dead letters'> {
  return new Set([...roles].filter((role) => role !== 'internal'))
}
