import { isRelayError } from '../errors.ts'
import type { Cluster } from '../kafka/cluster.ts'
import type { History } from './history.ts'
import { greatest, least } from './positions.ts'
import type { Progress } from './progress.ts'
import { type Expecting, readSource } from './read-source.ts'

/** How many records of each partition are looked at. */
const aheadMax = 100_000n

/**
 * Expects what the source beyond the committed offsets would give, to recognise outputs that are visible too early. A
 * record that cannot be transformed ends it for its partition: the relay has not come past it either.
 */
export async function readAhead(
  cluster: Cluster,
  { sources }: History,
  expecting: Expecting,
  progress: Progress,
): Promise<void> {
  for (const [source, log] of sources.entries()) {
    const { topic, partition, topicId, stableEnd, relayedUntil } = log
    const from = greatest(relayedUntil, log.from)
    const until = least(stableEnd, from + aheadMax)
    const ask = { topic, partition, topicId, source, from, until, committed: from, committedAfter: from }
    await readSource(cluster, ask, expecting, progress).catch((error) => {
      if (!isRelayError(error)) throw error
    })
  }
}
