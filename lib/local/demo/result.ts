import type delays from '../../../relays/delays.ts'
import type { VerifyReport } from '../../verify/report.ts'
import type { FeedCounts } from './feed.ts'
import type { DemoProgress } from './progress.ts'

/** The demo in one line, for `--json`. */
export interface DemoResult {
  readonly ok: boolean
  /** Flights that arrived, malformed ones included. */
  readonly records: number
  /** Outputs that they must give, dead letters included: each flight gives one. */
  readonly expected: number
  readonly delivered: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  readonly abortedSeen: number
  readonly openTransactions: number
  /** Functions that were killed in the middle of an invocation. */
  readonly kills: number
  /** Committed transactions, counted in the log. */
  readonly windows: number
  readonly invocations: number
  /** From the first flight to the proof, without set-up. */
  readonly seconds: number
}

/** One output topic: how many records the feed's own count says it must have, and how many a consumer counted in it. */
export interface OutputCount {
  readonly topic: string
  readonly wanted: number
  readonly found: number
}

export function outputCounts(
  { outputs, deadLetters }: typeof delays,
  fed: FeedCounts,
  seen: ReadonlyMap<string, number>,
): OutputCount[] {
  const count = (topic: string, wanted: number) => ({ topic, wanted, found: seen.get(topic) ?? 0 })
  return [
    count(outputs.late.name, fed.late),
    count(outputs.onTime.name, fed.onTime),
    count(deadLetters ?? '', fed.dead),
  ]
}

/** The verifier's word, and that of two parties who know nothing of it: who wrote the flights, and who read the outputs. */
export function resultOf(
  report: VerifyReport,
  counts: readonly OutputCount[],
  last: DemoProgress,
  seconds: number,
): DemoResult {
  const agree = counts.every(({ wanted, found }) => wanted === found)
  return {
    ok: report.ok && agree && report.records === last.records,
    records: report.records,
    expected: report.expected,
    delivered: report.delivered,
    lost: report.lost,
    duplicated: report.duplicated,
    outOfOrder: report.outOfOrder,
    abortedSeen: report.abortedSeen,
    openTransactions: report.openTransactions,
    kills: last.kills,
    windows: report.committedTransactions,
    invocations: last.invocations,
    seconds: Math.round(seconds * 10) / 10,
  }
}
