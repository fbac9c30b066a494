import { hasCommitted } from '../begun.ts'
import { type Finding, Places, plural } from '../finding.ts'
import type { History, LaneState, SourceLog } from '../history.ts'

/** 12. Lag: records that are not relayed yet. No loss: the next ring relays them. Counted in offsets, markers included. */
export function lagBehindEnd({ sources }: History): Finding {
  const places = new Places()
  let lag = 0
  let heldBack = 0
  for (const source of sources) {
    const behind = lagOf(source)
    lag += behind
    heldBack += Number(source.end - source.stableEnd)
    if (behind > 0) places.add(() => `${source.topic}/${source.partition}: ${behind} below the end ${source.stableEnd}`)
  }
  const more = heldBack > 0 ? `; ${plural(heldBack, 'offset')} more behind an open transaction in the source` : ''
  const detail = lag === 0 ? `everything is relayed${more}` : `${plural(lag, 'offset')} not relayed yet${more}`
  return {
    check: 'lag',
    status: lag + heldBack === 0 ? 'held' : 'noted',
    count: lag,
    detail,
    examples: places.examples,
  }
}

const lagOf = ({ relayedUntil, stableEnd }: SourceLog): number =>
  stableEnd > relayedUntil ? Number(stableEnd - relayedUntil) : 0

/**
 * 14. Offsets: what is committed was committed by this relay for this log, lies within it, did not move back while the
 * verifier was reading, and is not below what the fence records remember.
 */
export function committedOffsets(history: History): Finding {
  const places = new Places()
  for (const source of history.sources) {
    const lane = history.lanes.find(({ transactionalId }) => transactionalId === source.transactionalId)
    for (const problem of [...positionProblems(source), ...originProblems(history, source, lane)]) {
      places.add(() => `${source.topic}/${source.partition}: ${problem}`)
    }
  }
  return places.finding(
    'offsets',
    'violated',
    "the committed offsets are the relay's own",
    (count) => `${plural(count, 'committed offset')} cannot be right`,
  )
}

function positionProblems({ committed, committedAfter: now, stableEnd }: SourceLog): string[] {
  if (now === null) return committed === null ? [] : [`${committed} was committed and is gone`]
  const problems: string[] = []
  if (committed !== null && now < committed) problems.push(`went back from ${committed} to ${now}`)
  if (now > stableEnd) problems.push(`${now} is beyond the end of what readers see, ${stableEnd}`)
  return problems
}

function originProblems({ clusterId }: History, source: SourceLog, lane: LaneState | undefined): string[] {
  const { committedAfter: now, metadata, topicId, transactionalId, partition } = source
  const fence = fenceOf(lane)
  // A reset commits first and is remembered then.
  const remembered = fence?.resetTo?.has(partition) ? undefined : fence?.committedUntil.get(partition)
  const problems: string[] = []
  // Nothing committed under a clean record is a first start under way, or an idle week: the relay goes on from there (R8).
  const isForgotten = now === null && fence?.dirty === false
  if (remembered !== undefined && (now ?? -1n) < remembered && !isForgotten) {
    problems.push(`${now ?? 'nothing'} is committed, the fence record remembers ${remembered}`)
  }
  if (now === null) return problems
  if (metadata?.id !== transactionalId) return [...problems, `${now} was not committed by ${transactionalId}`]
  if (metadata.clusterId !== clusterId || metadata.topicId !== topicId) problems.push(`${now} belongs to another log`)
  if (fence && metadata.lineage !== fence.lineage) problems.push(`${now} was committed by another deployment`)
  return problems
}

/** 15. Cut: records of the source were deleted before they were relayed. How many of those offsets had records is not known. */
export function sourceCut({ sources }: History): Finding {
  const places = new Places()
  for (const { topic, partition, logStart, relayedUntil } of sources) {
    if (relayedUntil >= logStart) continue
    places.add(() => `${topic}/${partition}: relayed up to ${relayedUntil}, the log begins at ${logStart}`)
  }
  return places.finding(
    'sourceCut',
    'unproven',
    'nothing was deleted from the source before it was relayed',
    (count) => `${plural(count, 'source partition')} cut by retention before everything was relayed`,
  )
}

/** 19. Started: something is committed. Else nothing is proven: the relay never ran, or it runs under another prefix. */
export function startedAtAll(history: History): Finding {
  const isStarted = hasCommitted(history)
  const { sources, lanes } = history
  return {
    check: 'started',
    status: isStarted ? 'held' : 'unproven',
    count: isStarted ? 0 : sources.length,
    detail: isStarted
      ? 'the relay has begun'
      : `nothing was ever committed by ${lanes[0]?.transactionalId}: is the prefix right?`,
    examples: [],
  }
}

const fenceOf = (lane: LaneState | undefined) => (lane === undefined || lane.fence === 'not read' ? null : lane.fence)
