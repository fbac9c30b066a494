import { type Deadline, deadlineIn } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import type { CompiledRelay } from '../../relay/compiled-relay.ts'
import { createTopics } from '../topics.ts'

const askingMs = 20_000

/**
 * Makes the topics of these relays that the cluster does not have, with so many partitions; null: makes none. Answers
 * the names of those it made.
 * @throws RelayError TOPIC_MISSING naming all that are missing, and how to make them
 */
export async function ensureTopics(
  cluster: Cluster,
  relays: readonly CompiledRelay[],
  partitions: number | null,
): Promise<readonly string[]> {
  const missing = await missingTopics(cluster, relays, deadlineIn(cluster.clock, askingMs))
  if (missing.length === 0) return []
  if (partitions === null) throw topicsMissing(missing, relays)
  await createTopics(cluster, new Map(missing.map((name) => [name, partitions])))
  return missing
}

async function missingTopics(
  cluster: Cluster,
  relays: readonly CompiledRelay[],
  deadline: Deadline,
): Promise<readonly string[]> {
  const wanted = [...new Set(relays.flatMap(({ sourceTopic, outputTopics }) => [sourceTopic, ...outputTopics]))]
  const known = await cluster.topics(wanted, deadline, 'fresh')
  return wanted.filter((name) => !known.get(name)?.partitions.length)
}

function topicsMissing(missing: readonly string[], relays: readonly CompiledRelay[]): RelayError {
  const uses = missing.map((name) => `  ${name}: ${relays.flatMap((relay) => useOf(relay, name)).join(', ')}`)
  const what = missing.length === 1 ? 'a topic does not exist' : `${missing.length} topics do not exist`
  return new RelayError(
    'TOPIC_MISSING',
    `${what}\n${uses.join('\n')}\nFix: create them, or give --create-topics to have them made here`,
    { context: { topics: missing } },
  )
}

function useOf({ name, sourceTopic, outputTopics }: CompiledRelay, topic: string): readonly string[] {
  return [
    ...(sourceTopic === topic ? [`source of ${name}`] : []),
    ...(outputTopics.includes(topic) ? [`output of ${name}`] : []),
  ]
}
