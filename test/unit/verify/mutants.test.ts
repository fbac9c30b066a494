import { describe, expect, test } from 'vitest'
import { outOfOrder } from '../../../lib/verify/checks/delivery.ts'
import { type Finding, Places } from '../../../lib/verify/finding.ts'
import { type History, standing } from '../../../lib/verify/history.ts'
import { type Check, checks } from '../../../lib/verify/judge.ts'
import { type Matching, matchRecords, meaning } from '../../../lib/verify/match.ts'
import { complaints, type HistoryMade } from '../../helpers/histories.ts'
import { rightHistories, wrongHistories } from '../../helpers/history-cases.ts'

/** Titles of the hand-made histories of which something else is said than should be. */
function caughtBy(asked: readonly Check[], match = matchRecords): string[] {
  const cases: readonly (readonly [string, HistoryMade, readonly string[]])[] = [
    ...rightHistories.map(([title, made]) => [title, made, []] as const),
    ...wrongHistories,
  ]
  return cases
    .filter(([, made, wanted]) => complaints(made, asked, match).join() !== wanted.toSorted().join())
    .map(([title]) => title)
}

const instead = (check: Check, mutant: Check): Check[] => checks.map((one) => (one === check ? mutant : one))
const named = (name: string): Check => {
  const found = checks.find((check) => check.name === name)
  if (!found) throw new Error(`no check is called ${name}`)
  return found
}

test('the checks as they are pass', () => {
  expect(caughtBy(checks)).toEqual([])
})

describe('a check that is left out, or that finds nothing, is missed', () => {
  test.each(checks.map((check) => [check.name, check] as const))('%s', (_, check) => {
    expect(caughtBy(checks.filter((one) => one !== check))).not.toEqual([])
    const blind: Check = (history, matching) => ({ ...check(history, matching), status: 'held' })
    expect(caughtBy(instead(check, blind))).not.toEqual([])
  })
})

/** Asks a check about a history that was bent before. */
const bent = (
  name: string,
  bend: (history: History, matching: Matching) => readonly [History, Matching],
): readonly Check[] => instead(named(name), (history, matching) => named(name)(...bend(history, matching)))

describe('mistakes that checkers are known for are caught', () => {
  const mutants: readonly (readonly [string, () => string[]])[] = [
    [
      'the last record is not looked at',
      () =>
        caughtBy(
          bent('lostRecords', (history, matching) => [
            history,
            {
              ...matching,
              isDelivered: Uint8Array.from(matching.isDelivered, (one, at) =>
                at === matching.isDelivered.length - 1 ? 1 : one,
              ),
            },
          ]),
        ),
    ],
    [
      'lag is called a loss',
      () =>
        caughtBy(
          bent('lostRecords', (history, matching) => [
            {
              ...history,
              expected: { ...history.expected, standing: history.expected.standing.map(() => standing.required) },
            },
            matching,
          ]),
        ),
    ],
    ['a set instead of a multiset: equal records hide a loss', () => caughtBy(checks, asSet)],
    ['what may be there is taken before what must be there', () => caughtBy(checks, allowedFirst)],
    [
      'copies are called unexplained',
      () => caughtBy(checks, (history) => renamed(history, meaning.duplicate, meaning.unexplained)),
    ],
    [
      'strangers are called copies',
      () => caughtBy(checks, (history) => renamed(history, meaning.unexplained, meaning.duplicate)),
    ],
    ['order is asked over all source partitions together', () => caughtBy(instead(outOfOrder, orderOfAll))],
    [
      'order is asked of no partition, because a key is compared with one of another type',
      () => caughtBy(instead(outOfOrder, orderOfNone)),
    ],
    [
      'equal records are put in an order that nobody knows',
      () =>
        caughtBy(
          bent('outOfOrder', (history, matching) => [
            history,
            { ...matching, isOrderUnknown: matching.isOrderUnknown.map(() => 0) },
          ]),
        ),
    ],
    [
      'a transaction without a marker counts as committed',
      () => caughtBy(bent('uncommittedSeen', (history, matching) => [fated(history, 'open', 'committed'), matching])),
    ],
    [
      'aborted data is looked for in the outputs only',
      () => caughtBy(bent('uncommittedSeen', (history, matching) => [{ ...history, sources: [] }, matching])),
    ],
    [
      'only the coordinator is asked for open transactions',
      () =>
        caughtBy(
          bent('openTransactions', (history, matching) => [
            { ...history, outputs: history.outputs.map((log) => ({ ...log, heldBy: [] })) },
            matching,
          ]),
        ),
    ],
    [
      'whatever is missing behind an open transaction is called lost',
      () =>
        caughtBy(
          bent('lostRecords', (history, matching) => [
            { ...history, outputs: history.outputs.map((log) => ({ ...log, end: log.until })) },
            matching,
          ]),
        ),
    ],
    [
      'retention excuses everything',
      () =>
        caughtBy(
          bent('lostRecords', (history, matching) => [
            { ...history, outputs: history.outputs.map((log) => ({ ...log, removed: log.logStart })) },
            matching,
          ]),
        ),
    ],
    [
      'whoever writes to an output topic writes for the relay',
      () =>
        caughtBy(
          bent('unexplainedRecords', (history, matching) => [
            {
              ...history,
              lanes: [7n, 100n, 101n].map((producerId) => ({ transactionalId: 'x', producerId, fence: null })),
            },
            matching,
          ]),
        ),
    ],
    [
      'offsets are compared, and not whose they are',
      () =>
        caughtBy(
          bent('committedOffsets', (history, matching) => [
            {
              ...history,
              sources: history.sources.map((source) => ({
                ...source,
                metadata: ownMetadata(history, source.transactionalId),
              })),
            },
            matching,
          ]),
        ),
    ],
    [
      'epochs are not looked at',
      () =>
        caughtBy(
          bent('overlappingSessions', (history, matching) => [
            {
              ...history,
              outputs: history.outputs.map((log) => ({
                ...log,
                transactions: log.transactions.map((one) => ({ ...one, producerEpoch: 0 })),
              })),
            },
            matching,
          ]),
        ),
    ],
  ]

  test.each(mutants)('%s', (_, caught) => {
    expect(caught()).not.toEqual([])
  })
})

const ownMetadata = ({ clusterId }: History, id: string) => ({
  lineage: 'lineage',
  id,
  topicId: 'topic',
  clusterId,
  token: 1,
  from: 0n,
})

/** Every equal of a delivered record counts as delivered. */
function asSet(history: History): Matching {
  const matching = matchRecords(history)
  const key = (at: number) => `${history.expected.high[at]} ${history.expected.low[at]}`
  const delivered = new Set([...matching.isDelivered].flatMap((one, at) => (one === 1 ? [key(at)] : [])))
  return { ...matching, isDelivered: matching.isDelivered.map((_, at) => (delivered.has(key(at)) ? 1 : 0)) }
}

function allowedFirst(history: History): Matching {
  const swapped = history.expected.standing.map((one) =>
    one === standing.required ? standing.allowed : one === standing.allowed ? standing.required : one,
  )
  return matchRecords({ ...history, expected: { ...history.expected, standing: swapped } })
}

function renamed(history: History, from: number, to: number): Matching {
  const matching = matchRecords(history)
  return { ...matching, meanings: matching.meanings.map((found) => found.map((one) => (one === from ? to : one))) }
}

const fated = (history: History, from: string, fate: 'committed'): History => ({
  ...history,
  outputs: history.outputs.map((log) => ({
    ...log,
    transactions: log.transactions.map((one) => (one.fate === from ? { ...one, fate } : one)),
  })),
})

function orderOfAll({ expected }: History, { meanings }: Matching): Finding {
  const places = new Places()
  for (const found of meanings) {
    let last = -1
    for (const index of found) {
      if (index < 0) continue
      if (index < last) places.add(() => `${expected.offset[index]}`)
      last = Math.max(last, index)
    }
  }
  return places.finding('outOfOrder', 'violated', '', () => '')
}

/** As in Kafka's own group_mode_transactions_test.py: the partitions are keys of one type, and are asked for by another. */
function orderOfNone(_: History, { meanings }: Matching): Finding {
  const byPartition = new Map(meanings.map((found, partition) => [String(partition), found]))
  const places = new Places()
  for (const partition of meanings.keys()) {
    const found = byPartition.get(partition as unknown as string) ?? []
    for (const [at, index] of found.entries()) if (index < (found[at - 1] ?? -1)) places.add(() => '')
  }
  return places.finding('outOfOrder', 'violated', '', () => '')
}
