import type { Deadline } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { fetchCommitted } from '../../kafka/committed.ts'
import { listOffsets } from '../../kafka/offsets.ts'
import type { PollerSettings, StartingPosition } from './poller-options.ts'

export interface Start {
  readonly partition: number
  readonly offset: bigint
  /** False: resolved just now from the mapping's starting position, the group had none. */
  readonly committed: boolean
}

/**
 * Where each partition begins: at what the group has committed, else at the mapping's starting position. `anew` does
 * not ask the group. @throws RelayError as the reads do: BROKER_UNAVAILABLE, TOPIC_MISSING, ...
 */
export async function startingPositions(
  cluster: Cluster,
  settings: Pick<PollerSettings, 'topic' | 'group' | 'startingPosition'>,
  partitions: readonly number[],
  deadline: Deadline,
  anew?: 'anew',
): Promise<readonly Start[]> {
  const found = new Map<number, Start>()
  if (!anew) {
    const places = partitions.map((partition) => ({ topic: settings.topic, partition }))
    const question = { group: settings.group, partitions: places, requireStable: false }
    for (const answer of await fetchCommitted(cluster, question, deadline)) {
      if ('error' in answer) throw answer.error
      if ('offset' in answer && answer.offset !== null)
        found.set(answer.partition, { partition: answer.partition, offset: answer.offset, committed: true })
    }
  }
  const missing = partitions.filter((partition) => !found.has(partition))
  for (const [partition, offset] of await resolve(
    cluster,
    settings.topic,
    missing,
    settings.startingPosition,
    deadline,
  )) {
    found.set(partition, { partition, offset, committed: false })
  }
  return [...found.values()]
}

async function resolve(
  cluster: Cluster,
  topic: string,
  partitions: readonly number[],
  start: StartingPosition,
  deadline: Deadline,
): Promise<ReadonlyMap<number, bigint>> {
  const at = start === 'TRIM_HORIZON' ? 'earliest' : start === 'LATEST' ? 'latest' : start.atTimestampMs
  const asks = partitions.map((partition) => ({ topic, partition }))
  const found = new Map<number, bigint>()
  for (const answer of await listOffsets(cluster, asks, { at, isolation: 'read_uncommitted' }, deadline)) {
    if ('error' in answer) throw answer.error
    found.set(answer.partition, answer.offset)
  }
  const after = partitions.filter((partition) => found.get(partition) === -1n)
  if (after.length === 0) return found
  return new Map([...found, ...(await resolve(cluster, topic, after, 'LATEST', deadline))])
}
