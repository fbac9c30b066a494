import type { Problem } from '../problems.ts'

/** What a topic must be like for the promise to hold, as far as its settings tell: asked by preflight and at a cold start. */
export interface TopicSeen {
  readonly name: string
  /** A topic may have several: that of one relay's output is another one's source. */
  readonly roles: ReadonlySet<TopicRole>
  /** Replicas of its partitions; the fewest, where they differ. */
  readonly copies: number
}

export type TopicRole = 'source' | 'output' | 'dead letters'

export interface TopicRule {
  readonly setting: string
  readonly wanted: string
  readonly why: string
  /** The rule says nothing of topics that it does not apply to. */
  appliesTo(topic: TopicSeen): boolean
  holds(value: string): boolean
  /** Value for `kafka-configs.sh --add-config`. */
  readonly mendWith: string
  /** Whether an operator may live with it (FENCEPOST_ACCEPT_WEAK_TOPICS): a risk, not a defect. */
  readonly acceptable: boolean
}

export const inSyncRule: TopicRule = {
  setting: 'min.insync.replicas',
  wanted: '2 or more',
  why: 'a record that one broker alone has acknowledged is lost with that broker',
  appliesTo: () => true,
  holds: (value) => Number(value) >= 2,
  mendWith: '2',
  acceptable: true,
}

export const uncleanElectionRule: TopicRule = {
  setting: 'unclean.leader.election.enable',
  wanted: 'false',
  why: 'a replica that lags may become leader, and what it does not have is lost',
  appliesTo: () => true,
  holds: (value) => value === 'false',
  mendWith: 'false',
  acceptable: true,
}

export const deadLettersRule: TopicRule = {
  setting: 'cleanup.policy',
  wanted: 'delete',
  why: 'compaction drops letters that share a key, and refuses those without one for ever',
  appliesTo: ({ roles }) => roles.has('dead letters'),
  holds: (value) => !value.includes('compact'),
  mendWith: 'delete',
  acceptable: false,
}

export const topicRules: readonly TopicRule[] = [inSyncRule, uncleanElectionRule, deadLettersRule]

export const topicFix = ({ setting, mendWith }: Pick<TopicRule, 'setting' | 'mendWith'>, topic: string): string =>
  `kafka-configs.sh --alter --topic ${topic} --add-config ${setting}=${mendWith}`

/** A topic, and what of it must be otherwise. `isAccepted`: an operator lives with the risks. Settings that are not told pass. */
export function topicProblems(
  topic: TopicSeen,
  settings: ReadonlyMap<string, string>,
  isAccepted: boolean,
): readonly Problem[] {
  const rules = topicRules.filter((rule) => rule.appliesTo(topic) && !(rule.acceptable && isAccepted))
  return rules.flatMap((rule) => {
    const found = settings.get(rule.setting)
    if (found === undefined || rule.holds(found)) return []
    const accept = rule.acceptable ? '; or accept the risk: FENCEPOST_ACCEPT_WEAK_TOPICS=true' : ''
    const fix = `${topicFix(rule, topic.name)} (${rule.why})${accept}`
    return [{ path: `${topic.name}: ${rule.setting}`, found, wanted: rule.wanted, fix }]
  })
}
