import { findAuthors } from '../authors.ts'
import { type Finding, figure, Places, plural } from '../finding.ts'
import type { History, LogTransaction } from '../history.ts'
import type { Matching } from '../match.ts'

/**
 * 9. Uncommitted data seen: read_committed readers are shown a record whose transaction was aborted, or has no marker yet,
 * as the markers in the log itself tell. In the source too: what the relay was shown there, it has relayed.
 */
export function uncommittedSeen({ outputs, sources }: History): Finding {
  return recordsIn(
    [...outputs, ...sources],
    ({ fate, visible }) => (fate === 'committed' ? 0 : visible),
    'abortedSeen',
    'readers see no record of an aborted transaction',
    (count) => `${plural(count, 'record')} of unfinished or aborted transactions seen`,
  )
}

/** 10. Committed data hidden: read_committed readers are not shown a record whose transaction was committed. */
export function committedHidden({ outputs, sources }: History): Finding {
  return recordsIn(
    [...outputs, ...sources],
    ({ fate, hidden }) => (fate === 'committed' ? hidden : 0),
    'committedHidden',
    'readers see every record of a committed transaction',
    (count) =>
      `${plural(count, 'record')} of committed transactions hidden: an index of aborted transactions is damaged`,
  )
}

type Log = Pick<History['outputs'][number], 'topic' | 'partition' | 'transactions'>

function recordsIn(
  logs: readonly Log[],
  wrong: (transaction: LogTransaction) => number,
  check: string,
  held: string,
  found: (count: number) => string,
): Finding {
  const places = new Places()
  for (const { topic, partition, transactions } of logs) {
    for (const transaction of transactions) {
      const { producerId, firstOffset, fate } = transaction
      const place = () => `${topic}/${partition}/${firstOffset}, ${fate} transaction of producer ${producerId}`
      for (let record = 0; record < wrong(transaction); record++) places.add(place)
    }
  }
  return places.finding(check, 'violated', held, found)
}

/**
 * 11. Open: a transaction of the relay that was open all the time while the verifier read, so that readers wait behind it;
 * known to the coordinator, or only to the partition that it holds (a hanging one).
 */
export function openTransactions(history: History, matching: Matching): Finding {
  const places = new Places()
  const authors = findAuthors(history, matching)
  const known = new Set(history.openTransactions.map(({ producerId }) => producerId))
  for (const { transactionalId, state, partitions } of history.openTransactions) {
    places.add(() => `${transactionalId}: ${state}, on ${partitions.join(', ') || 'no partition'}`)
  }
  for (const { topic, partition, heldBy } of history.outputs) {
    for (const { producerId, producerEpoch, fromOffset } of heldBy) {
      if (known.has(producerId) || !authors.has(producerId)) continue
      places.add(() => `${topic}/${partition}/${fromOffset}: hangs, producer ${producerId} epoch ${producerEpoch}`)
    }
  }
  return places.finding(
    'openTransactions',
    'violated',
    'no transaction of the relay is left open',
    (count) => `${plural(count, 'transaction')} left open: ring the relay, its next barrier ends them`,
  )
}

const abortedShareMax = 1 / 3
/** So few say nothing: one kill among two windows is no pattern. */
const abortedLeast = 10

/** 13. Aborts cost work, not data. Many of them mean that invocations die, run out of time, or fence each other. */
export function abortedTransactions(history: History): Finding {
  const { committed, aborted } = countTransactions(history)
  const isMany = aborted >= abortedLeast && aborted > abortedShareMax * (committed + aborted)
  const counts = `${plural(committed, 'transaction')} committed, ${figure(aborted)} aborted`
  return {
    check: 'abortedTransactions',
    status: isMany ? 'noted' : 'held',
    count: aborted,
    detail: isMany
      ? `${counts}: more than one in three; look for kills, time-outs, or lanes that fence each other`
      : counts,
    examples: [],
  }
}

export interface TransactionCounts {
  readonly committed: number
  readonly aborted: number
}

/**
 * How many transactions ended in the outputs. One that wrote several partitions has a marker in each: of one producer and
 * epoch, the partition with most of them counts. On transaction.version 2 that is exact, since each transaction has its
 * own epoch; on the older protocol there were at least as many. Windows without any output leave nothing to count.
 */
export function countTransactions({ outputs }: Pick<History, 'outputs'>): TransactionCounts {
  return { committed: endedAs(outputs, 'committed'), aborted: endedAs(outputs, 'aborted') }
}

function endedAs(outputs: readonly Log[], fate: LogTransaction['fate']): number {
  const most = new Map<string, number>()
  for (const { transactions } of outputs) {
    const ended = transactions.filter((transaction) => transaction.fate === fate && hasRecords(transaction))
    for (const [session, { length }] of Map.groupBy(ended, sessionOf)) {
      most.set(session, Math.max(most.get(session) ?? 0, length))
    }
  }
  return [...most.values()].reduce((all, one) => all + one, 0)
}

/** A partition that joined and got nothing has a marker only, whose epoch may differ from that of the data elsewhere. */
const hasRecords = ({ visible, hidden }: LogTransaction): boolean => visible + hidden > 0
const sessionOf = ({ producerId, producerEpoch }: LogTransaction): string => `${producerId} ${producerEpoch}`
