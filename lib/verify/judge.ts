import { outputsAhead } from './checks/ahead.ts'
import {
  duplicatedRecords,
  hiddenOutputs,
  lostRecords,
  outOfOrder,
  recordCount,
  unseenRecords,
} from './checks/delivery.ts'
import { deadLettersReproduced, overlappingSessions, waitingLanes } from './checks/lanes.ts'
import { committedOffsets, lagBehindEnd, sourceCut, startedAtAll } from './checks/positions.ts'
import { foreignRecords, unexplainedRecords } from './checks/strangers.ts'
import { abortedTransactions, committedHidden, openTransactions, uncommittedSeen } from './checks/transactions.ts'
import type { Finding } from './finding.ts'
import type { History } from './history.ts'
import { type Matching, matchRecords } from './match.ts'

/** One question about a history. Pure: the same history gives the same finding. */
export type Check = (history: History, matching: Matching) => Finding

/**
 * All that is asked of a relay, in the order of the report. The numbered docstrings of these functions are the
 * specification of what `proven` means.
 */
export const checks: readonly Check[] = [
  recordCount,
  lostRecords,
  unseenRecords,
  hiddenOutputs,
  duplicatedRecords,
  outputsAhead,
  outOfOrder,
  unexplainedRecords,
  foreignRecords,
  uncommittedSeen,
  committedHidden,
  openTransactions,
  lagBehindEnd,
  abortedTransactions,
  committedOffsets,
  startedAtAll,
  sourceCut,
  overlappingSessions,
  waitingLanes,
  deadLettersReproduced,
]

/** Those that hold whatever relays: not how Fencepost keeps its offsets and its producers. */
export const checksOfAnyRelay = checks.filter((check) => check !== committedOffsets && check !== overlappingSessions)

export interface Judgement {
  readonly history: History
  readonly matching: Matching
  /** One for each check that was asked. */
  readonly findings: readonly Finding[]
}

export function judge(history: History, asked = checks): Judgement {
  const matching = matchRecords(history)
  return { history, matching, findings: asked.map((check) => check(history, matching)) }
}
