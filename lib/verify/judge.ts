import { duplicatedRecords, lostRecords, outOfOrder, outputsAhead, unexplainedRecords } from './checks/delivery.ts'
import { committedOffsets, deadLettersAccounted, lagBehindEnd, stoppedLanes } from './checks/positions.ts'
import { abortedTransactions, openTransactions, uncommittedSeen } from './checks/transactions.ts'
import type { Finding } from './finding.ts'
import type { History } from './history.ts'
import { type Matching, matchRecords } from './match.ts'

/** One question about a history. Pure: the same history gives the same finding. */
export type Check = (history: History, matching: Matching) => Finding

/** All that is asked of a relay, in the order of the report. Their docstrings, numbered, are the specification. */
export const checks: readonly Check[] = [
  lostRecords,
  duplicatedRecords,
  unexplainedRecords,
  outputsAhead,
  outOfOrder,
  uncommittedSeen,
  openTransactions,
  abortedTransactions,
  lagBehindEnd,
  committedOffsets,
  stoppedLanes,
  deadLettersAccounted,
]

export interface Judgement {
  readonly findings: readonly Finding[]
  readonly matching: Matching
}

export function judge(history: History): Judgement {
  const matching = matchRecords(history)
  return { matching, findings: checks.map((check) => check(history, matching)) }
}
