import { type Finding, Places, plural } from '../finding.ts'
import type { History, SourceLog } from '../history.ts'

/** 9. Lag: records that are not relayed yet. Not a loss: the next ring relays them. Counted in offsets, markers included. */
export function lagBehindEnd({ sources }: History): Finding {
  const places = new Places()
  let lag = 0
  for (const source of sources) {
    const behind = lagOf(source)
    lag += behind
    if (behind > 0)
      places.add(() => `${source.topic}/${source.partition} is ${behind} behind its end ${source.stableEnd}`)
  }
  const detail = lag === 0 ? 'everything is relayed' : `${plural(lag, 'offset')} not relayed yet`
  return { check: 'lag', status: lag === 0 ? 'held' : 'noted', count: lag, detail, examples: places.examples }
}

/** Of a partition: offsets between the committed one and the last stable one. */
export function lagOf({ committedAfter, from, stableEnd }: SourceLog): number {
  const position = committedAfter ?? from
  return stableEnd > position ? Number(stableEnd - position) : 0
}

/**
 * 10. Offsets: what is committed was committed by this relay, lies in the log, did not move back while the verifier was
 * reading, and agrees with what the fence records remember.
 */
export function committedOffsets({ sources, fences }: History): Finding {
  const places = new Places()
  for (const source of sources) {
    for (const problem of offsetProblems(source)) places.add(() => `${source.topic}/${source.partition}: ${problem}`)
    const remembered = fences?.find(({ id }) => id === source.transactionalId)?.committedUntil.get(source.partition)
    const { committedAfter } = source
    if (remembered !== undefined && (committedAfter ?? -1n) < remembered) {
      places.add(() => `${source.topic}/${source.partition}: ${committedAfter} is below the remembered ${remembered}`)
    }
  }
  return places.finding('offsets', 'violated', (count) =>
    count === 0 ? "the committed offsets are the relay's own" : `${plural(count, 'committed offset')} cannot be right`,
  )
}

function offsetProblems(source: SourceLog): string[] {
  const { committed, committedAfter, metadata, end, transactionalId } = source
  if (committedAfter === null) return committed === null ? [] : [`the committed offset ${committed} is gone`]
  const problems: string[] = []
  if (committed !== null && committedAfter < committed)
    problems.push(`went back from ${committed} to ${committedAfter}`)
  if (committedAfter > end) problems.push(`${committedAfter} is beyond the end ${end}`)
  if (metadata?.id !== transactionalId) problems.push(`${committedAfter} was not committed by ${transactionalId}`)
  return problems
}

/** 11. Lanes: one that is stopped waits for an operator, and its records with it. */
export function stoppedLanes({ fences }: History): Finding {
  const places = new Places()
  for (const { id, stopped } of fences ?? [])
    if (stopped) places.add(() => `${id}: ${stopped.code}, ${stopped.message}`)
  return places.finding('lanes', 'noted', (count) =>
    fences === null
      ? 'no fence table was given'
      : count === 0
        ? 'no lane is stopped'
        : `${plural(count, 'lane')} stopped`,
  )
}

/** 12. Dead letters: each names a record of the source in the range. */
export function deadLettersAccounted({ deadLetters }: History): Finding {
  const { found, unaccounted, notReproduced } = deadLetters
  const detail = `${plural(found, 'dead letter')}, ${unaccounted} without a record, ${notReproduced} that would pass now`
  const status = unaccounted > 0 ? 'violated' : notReproduced > 0 ? 'noted' : 'held'
  return { check: 'deadLetters', status, count: found, detail, examples: [] }
}
