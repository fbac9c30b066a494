import type { Cluster } from '../kafka/cluster.ts'
import { tpKey } from '../kafka/record.ts'
import { parseCommitMetadata } from '../relay/commit-metadata.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import type { SourceLog } from './history.ts'
import { type CommittedPositions, least, type Offsets, offsetsAt } from './positions.ts'
import type { Progress } from './progress.ts'
import { type Expecting, readSource, type SourceAsk } from './read-source.ts'
import { laneAt, type Scope } from './scope.ts'

export interface SourcesAsk {
  readonly scope: Scope
  readonly startAt: CompiledRelay['startAt']
  readonly sinceMs: number | null
  /** Before the outputs were read, and after. */
  readonly committed: CommittedPositions
  readonly committedAfter: CommittedPositions
  /** What clean fence records remember, for offsets that Kafka has forgotten. */
  readonly remembered: Offsets
}

/** Every source partition, one after the other, up to its committed offset. */
export async function readSources(
  cluster: Cluster,
  ask: SourcesAsk,
  expecting: Expecting,
  progress: Progress,
): Promise<readonly SourceLog[]> {
  const { scope, startAt, sinceMs } = ask
  const beginning = sinceMs ?? (typeof startAt === 'object' ? startAt.timestampMs : 'earliest')
  const [starts, stableEnds, ends, froms] = await Promise.all([
    offsetsAt(cluster, scope.sources, 'earliest'),
    offsetsAt(cluster, scope.sources, 'latest', 'read_committed'),
    offsetsAt(cluster, scope.sources, 'latest'),
    offsetsAt(cluster, scope.sources, beginning),
  ])
  const sources: SourceLog[] = []
  for (const [source, place] of scope.sources.entries()) {
    const { topic, partition, topicId } = place
    const at = (offsets: Offsets) => offsets.get(tpKey(place)) ?? 0n
    const [from, logStart, stableEnd, end] = [at(froms), at(starts), at(stableEnds), at(ends)]
    const committed = ask.committed.get(tpKey(place))?.offset ?? null
    const { offset: committedAfter, metadata } = ask.committedAfter.get(tpKey(place)) ?? nothing
    const known = positionsOf(committed, committedAfter, ask.remembered.get(tpKey(place)), from)
    const until = least(stableEnd, known.committedAfter)
    const range = { topic, partition, topicId, from, until }
    const read = await readSource(cluster, { ...range, ...known, source }, expecting, progress)
    sources.push({
      topic,
      partition,
      topicId,
      transactionalId: laneAt(scope, place)?.transactionalId ?? '',
      logStart,
      stableEnd,
      end,
      from,
      before: whatIsBefore(ask, from, logStart),
      committed,
      committedAfter,
      relayedUntil: known.committedAfter,
      metadata: parseCommitMetadata(metadata),
      ...read,
    })
  }
  return sources
}

/** Where Kafka has forgotten an idle lane's offset, its fence record has not (R7). */
function positionsOf(
  committed: bigint | null,
  committedAfter: bigint | null,
  remembered: bigint | undefined,
  from: bigint,
): Pick<SourceAsk, 'committed' | 'committedAfter'> {
  const isForgotten = committed === null && committedAfter === null
  const otherwise = isForgotten ? (remembered ?? from) : from
  return { committed: committed ?? otherwise, committedAfter: committedAfter ?? otherwise }
}

const nothing = { offset: null, metadata: '' }

function whatIsBefore({ sinceMs, startAt }: SourcesAsk, from: bigint, logStart: bigint): SourceLog['before'] {
  if (startAt === 'event' && sinceMs === null) return 'unknown start'
  // A relay that starts at a moment may have started at the end of the log, and has relayed later records with earlier dates.
  const mayBeLate = typeof startAt === 'object'
  const mayBeCut = from === logStart && logStart > 0n
  return sinceMs !== null || mayBeLate || mayBeCut ? 'older' : 'start'
}
