import { findAuthors, lanesOf, unknownLane } from '../authors.ts'
import { type Finding, Places, plural } from '../finding.ts'
import type { History, LogTransaction } from '../history.ts'
import type { Matching } from '../match.ts'

/**
 * 16. Fences: no session of a lane wrote after its successor. In each output partition the epochs of a producer never fall,
 * a producer that another one of its lane has followed never writes again, and no producer writes for two lanes.
 *
 * Only for exactly-once: the weaker guarantees write by producers that belong to no lane.
 */
export function overlappingSessions(history: History, matching: Matching): Finding {
  const places = new Places()
  if (history.guarantee === 'exactly-once') {
    for (const [producerId, lanes] of findAuthors(history, matching)) {
      if (lanes.size > 1) places.add(() => `producer ${producerId} wrote for ${[...lanes].join(' and ')}`)
    }
    for (const [output, { topic, partition, transactions }] of history.outputs.entries()) {
      const lanes = lanesOf(history, matching, output)
      for (const problem of [...fallingEpochs(transactions), ...returningProducers(transactions, lanes)]) {
        places.add(() => `${topic}/${partition}/${problem}`)
      }
    }
  }
  return places.finding(
    'fences',
    'violated',
    'no session of a lane wrote after its successor',
    (count) => `${plural(count, 'time')} a fenced session wrote after its successor`,
  )
}

function fallingEpochs(transactions: readonly LogTransaction[]): string[] {
  const highest = new Map<bigint, number>()
  return transactions.flatMap(({ producerId, producerEpoch, firstOffset }) => {
    const before = highest.get(producerId) ?? -1
    highest.set(producerId, Math.max(before, producerEpoch))
    return producerEpoch < before
      ? [`${firstOffset}: producer ${producerId} epoch ${producerEpoch} after ${before}`]
      : []
  })
}

function returningProducers(transactions: readonly LogTransaction[], lanes: readonly (string | null)[]): string[] {
  const current = new Map<string, bigint>()
  const followed = new Set<bigint>()
  return transactions.flatMap(({ producerId, firstOffset }, index) => {
    const lane = lanes[index] ?? null
    if (lane === null || lane === unknownLane) return []
    const before = current.get(lane)
    if (before !== undefined && before !== producerId) followed.add(before)
    current.set(lane, producerId)
    return followed.has(producerId)
      ? [`${firstOffset}: producer ${producerId} after ${before}, which had followed it`]
      : []
  })
}

/** 17. Lanes: one that is stopped waits for an operator, one whose owner died waits for the next ring. */
export function waitingLanes({ lanes, fencesReadAtMs }: History): Finding {
  const places = new Places()
  for (const { transactionalId, fence } of lanes) {
    if (fence === null || fence === 'not read') continue
    const { stopped, owner, leaseUntilMs, dirty } = fence
    const isAbandoned = dirty && (owner === null || leaseUntilMs < fencesReadAtMs)
    if (stopped) places.add(() => `${transactionalId} is stopped: ${stopped.code}, ${stopped.message}`)
    else if (isAbandoned) places.add(() => `${transactionalId} was left at work: ring the relay`)
  }
  const isRead = lanes.some(({ fence }) => fence !== 'not read')
  return places.finding(
    'lanes',
    'noted',
    isRead ? 'no lane is stopped or abandoned' : 'fence records were not read: give their table',
    (count) => `${plural(count, 'lane')} stopped or abandoned`,
  )
}

/** 18. Dead letters: each is expected like any other output (2, 4, 7); here it is asked whether it would be written again. */
export function deadLettersReproduced({ deadLetters: { found, notReproduced } }: History): Finding {
  const letters = plural(found, 'dead letter')
  return {
    check: 'deadLetters',
    status: notReproduced > 0 ? 'noted' : 'held',
    count: found,
    detail:
      notReproduced > 0
        ? `${letters}, of which ${notReproduced} would pass now: the relay or what it depends on has changed`
        : letters,
    examples: [],
  }
}
