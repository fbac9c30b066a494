import { type Finding, Places, plural } from '../finding.ts'
import type { History, LogTransaction } from '../history.ts'

/**
 * 6. Uncommitted data seen: read_committed readers are shown a record whose transaction was aborted, or has no marker yet,
 * as the markers in the log itself tell.
 */
export function uncommittedSeen({ outputs, sources }: History): Finding {
  const places = new Places()
  for (const { topic, partition, transactions } of [...outputs, ...sources]) {
    for (const { fate, visible, producerId, firstOffset } of transactions) {
      if (fate === 'committed') continue
      for (let shown = 0; shown < visible; shown++) {
        places.add(() => `${topic}/${partition}, transaction from ${firstOffset} of producer ${producerId} (${fate})`)
      }
    }
  }
  return places.finding('abortedSeen', 'violated', (count) =>
    count === 0
      ? 'readers see no record of an aborted transaction'
      : `${plural(count, 'record')} of aborted transactions seen`,
  )
}

/** 7. Open: a transaction of the relay that was left open, so that readers wait behind it. */
export function openTransactions({ openTransactions: open }: History): Finding {
  const places = new Places()
  for (const { transactionalId, state, partitions } of open) {
    places.add(() => `${transactionalId} is ${state} on ${partitions.join(', ') || 'no partition'}`)
  }
  return places.finding('openTransactions', 'violated', (count) =>
    count === 0
      ? 'no transaction of the relay is left open'
      : `${plural(count, 'transaction')} left open: ring the relay, its next barrier ends them`,
  )
}

const abortsMaxShare = 1 / 3
const abortsLeast = 10

/** 8. Aborts: costs work, not data; many of them mean that invocations die, time out or fence each other. */
export function abortedTransactions(history: History): Finding {
  const { committed, aborted } = countTransactions(history)
  const isMany = aborted >= abortsLeast && aborted > abortsMaxShare * (committed + aborted)
  const detail = `${plural(aborted, 'transaction')} aborted, ${committed.toLocaleString('en')} committed`
  return {
    check: 'abortedTransactions',
    status: isMany ? 'noted' : 'held',
    count: aborted,
    detail: isMany
      ? `${detail}: more than one in three; look for time-outs, kills or containers that share lanes`
      : detail,
    examples: [],
  }
}

export interface TransactionCounts {
  readonly committed: number
  readonly aborted: number
}

/**
 * How many transactions ended in the outputs. One that wrote several partitions has a marker in each: of one producer and
 * epoch, the partition with most markers counts. On transaction.version 2 that is exact (each transaction has its own
 * epoch); on the older protocol at least as many, since transactions of one session may share no partition.
 */
export function countTransactions({ outputs }: History): TransactionCounts {
  const most = { committed: new Map<string, number>(), aborted: new Map<string, number>() }
  for (const { transactions } of outputs) {
    for (const fate of ['committed', 'aborted'] as const) {
      const here = Map.groupBy(
        transactions.filter((transaction) => transaction.fate === fate && hasRecords(transaction)),
        sessionOf,
      )
      for (const [session, ended] of here) {
        most[fate].set(session, Math.max(most[fate].get(session) ?? 0, ended.length))
      }
    }
  }
  return { committed: sum(most.committed), aborted: sum(most.aborted) }
}

/** A partition that joined and got nothing has a marker only, whose epoch may be another than that of the data elsewhere. */
const hasRecords = ({ visible, hidden }: LogTransaction): boolean => visible + hidden > 0
const sessionOf = ({ producerId, producerEpoch }: LogTransaction): string => `${producerId} ${producerEpoch}`
const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0)
