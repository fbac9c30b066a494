import { tpKey } from '../../kafka/record.ts'
import { parseCommitMetadata } from '../../relay/commit-metadata.ts'
import type { Facts, LaneLineage } from '../facts/facts.ts'
import { type Finding, fail, holds, ok, type Subject, unknown } from '../finding.ts'

/**
 * Whether the prefix is this deployment's own: what is committed under it must have been committed by the lanes whose
 * records are in this fence table. Pure: the same two sources that a lane reconciles when it opens (R8).
 */
export function lineageChecks({ cluster, lineages, prefix, topics }: Facts): readonly Finding[] {
  if (!lineages.told) {
    const subject: Subject = { id: 'prefix.own', about: `prefix ${prefix}`, what: 'owner', wanted: 'this deployment' }
    return [unknown(subject, lineages.why)]
  }
  const byRelay = Map.groupBy(lineages.value, ({ id }) => id.relay)
  return [...byRelay].flatMap(([relay, lanes]) => [
    ownership(prefix, relay, lanes),
    ...sameSource(lanes, cluster, topics),
    ...pinnedPartitions(relay, lanes, topics),
  ])
}

const own = 'this deployment: offsets whose fence record is in this table'

function ownership(prefix: string, relay: string, lanes: readonly LaneLineage[]): Finding {
  const subject: Subject = { id: 'prefix.own', about: `${prefix}.${relay}`, what: 'owner', wanted: own }
  const strange = lanes.flatMap((lane) => lane.committed.flatMap((answer) => strangeness(lane, answer) ?? []))
  const [first] = strange
  if (first) return fail(subject, first.found, first.fix)
  const silent = lanes.flatMap(({ committed }) => committed).find((answer) => 'error' in answer)
  if (silent && 'error' in silent) return unknown(subject, silent.error.message)
  const known = lanes.filter(({ record }) => record !== null).length
  return ok(subject, known === 0 ? 'nobody yet' : `this deployment (${known} of ${lanes.length} lanes)`)
}

interface Strange {
  readonly found: string
  readonly fix: string
}

const ownPrefix = 'give this deployment a prefix of its own (FENCEPOST_PREFIX)'

function strangeness({ id, record }: LaneLineage, answer: LaneLineage['committed'][number]): Strange | null {
  if (!('offset' in answer) || answer.offset === null) return null
  const metadata = parseCommitMetadata(answer.metadata)
  const where = `offset ${answer.offset} of ${tpKey(answer)}`
  if (metadata?.id !== id.transactionalId) {
    const fix = `${ownPrefix}; or delete that group's offsets, or reset the lane, if nobody relays by them`
    return { found: `${where} in group ${id.group} was committed by something else`, fix }
  }
  if (record === null) {
    const fix = `${ownPrefix}; if the table was lost, run the relay: lanes go on from these offsets`
    return { found: `${where} was committed by a deployment whose fence record is not in this table`, fix }
  }
  if (metadata.lineage === record.lineage) return null
  return { found: `${where} was committed by another deployment (lineage ${metadata.lineage})`, fix: ownPrefix }
}

/** A position means nothing in another log of the same name: such lanes stop with SOURCE_REPLACED (R8). */
function sameSource(
  lanes: readonly LaneLineage[],
  cluster: Facts['cluster'],
  topics: Facts['topics'],
): readonly Finding[] {
  const topic = lanes[0]?.id.topic ?? ''
  const state = topics.told ? topics.value.find(({ name }) => name === topic)?.state : undefined
  if (!cluster.told || !state?.told || state.value === null) return []
  const { topicId } = state.value
  const { clusterId } = cluster.value
  const records = lanes.flatMap(({ record }) => (record?.sourceTopicId ? [record] : []))
  const others = records.filter((record) => record.sourceTopicId !== topicId || record.clusterId !== clusterId)
  const subject: Subject = { id: 'source.same', about: topic, what: 'log', wanted: 'the one that was relayed so far' }
  const found =
    others.length === 0 ? 'the same' : `another one for ${others.length} of ${lanes.length} lanes: made anew?`
  return [holds(others.length === 0, fail, subject, found, 'fencepost reset, to relay the new log from a chosen place')]
}

/** Partition counts of outputs are pinned in the records, so that a key keeps its partition. */
function pinnedPartitions(relay: string, lanes: readonly LaneLineage[], topics: Facts['topics']): readonly Finding[] {
  if (!topics.told) return []
  const now = new Map(topics.value.map(({ name, state }) => [name, state.told ? (state.value?.partitions ?? 0) : null]))
  return [...mostPinned(lanes)].flatMap(([topic, count]) => {
    const found = now.get(topic)
    if (found === null || found === undefined) return []
    const subject: Subject = {
      id: 'topic.pinned-partitions',
      about: topic,
      what: `partitions that ${relay} writes to`,
      wanted: `${count} of the topic's`,
    }
    const fix = 'give the topic its partitions back; a topic that was made anew needs a new relay name or a reset'
    return [holds(found >= count, fail, subject, `${Math.min(count, found)} of ${found}`, fix)]
  })
}

/** By output topic. Lanes that began later may have pinned more. */
function mostPinned(lanes: readonly LaneLineage[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>()
  for (const { record } of lanes) {
    for (const [topic, count] of record?.outputPartitions ?? []) most.set(topic, Math.max(count, most.get(topic) ?? 0))
  }
  return most
}
