import type { ClusterFacts } from '../facts/facts.ts'
import { type Finding, type Subject, unknown } from '../finding.ts'

/**
 * One finding for all brokers that agree, and one for each that does not: a setting may differ from broker to broker, and
 * any of them may be the coordinator tomorrow.
 */
export function ofEachBroker(
  { brokers, settings }: ClusterFacts,
  subject: Subject,
  setting: string,
  judge: (value: string, about: string) => Finding,
): readonly Finding[] {
  const byOutcome = new Map<string, { readonly ids: number[]; readonly finding: (about: string) => Finding }>()
  for (const { nodeId } of brokers) {
    const told = settings.get(nodeId)
    const value = told?.told ? told.value.get(setting) : undefined
    const why = told && !told.told ? told.why : 'the broker does not tell this setting'
    const finding = (about: string) =>
      value === undefined ? unknown({ ...subject, about }, why, hiddenFix) : judge(value, about)
    const key = value === undefined ? why : `= ${value}`
    const group = byOutcome.get(key) ?? { ids: [], finding }
    group.ids.push(nodeId)
    byOutcome.set(key, group)
  }
  return [...byOutcome.values()].map(({ ids, finding }) => {
    const isAll = ids.length === brokers.length
    return finding(isAll ? 'broker' : `broker ${ids.join(', ')}`)
  })
}

const hiddenFix = 'allow DescribeConfigs on the cluster, or ask whoever runs it'
