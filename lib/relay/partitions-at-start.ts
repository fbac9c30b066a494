import type { Deadline } from '../clock.ts'
import { fetchCommitted } from '../kafka/committed.ts'
import { parseCommitMetadata } from './commit-metadata.ts'
import type { FirstStart } from './first-start.ts'

/**
 * How many partitions the source had when the relay first started: those from this number on came later.
 *
 * Written once per relay and topic into the fence table, by whichever lane starts first; all that start afterwards, years
 * later too, get the same answer. Where it cannot be known, because the table was lost although the relay had started, or
 * because the topic was made anew, the answer is 0: whatever has not started yet counts as added later. That relays more
 * than the start policy asked for, and never less.
 *
 * @throws RelayError of the fence store; of the broker when it will not tell what is committed
 */
export async function partitionsAtFirstStart(start: FirstStart, deadline: Deadline): Promise<number> {
  const { runtime, id, topics } = start
  const startedBefore = start.started || (await hasCommitted(start, deadline))
  const now = { topicId: topics.sourceTopicId, partitions: startedBefore ? 0 : topics.sourcePartitions }
  const key = `first-start/${id.group}.${id.topic}`
  const first: typeof now = JSON.parse(await runtime.fences.rememberFirst(key, JSON.stringify(now), deadline))
  return first.topicId === topics.sourceTopicId ? first.partitions : 0
}

/** Whether any lane of the relay has committed an offset of this topic. */
async function hasCommitted({ runtime, id, topics }: FirstStart, deadline: Deadline): Promise<boolean> {
  const partitions = Array.from({ length: topics.sourcePartitions }, (_, partition) => ({ topic: id.topic, partition }))
  const question = { group: id.group, partitions, requireStable: false }
  for (const answer of await fetchCommitted(runtime.cluster, question, deadline)) {
    if ('error' in answer) throw answer.error
    if ('offset' in answer && parseCommitMetadata(answer.metadata) !== null) return true
  }
  return false
}
