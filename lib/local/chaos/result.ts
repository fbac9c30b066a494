import type { VerifyReport } from '../../verify/report.ts'
import type { FaultEvent } from './fault-schedule.ts'
import type { TallyResult } from './tally.ts'

/** A run in one line, for `--json`. */
export interface ChaosResult {
  /** Nothing lost, doubled or dead-lettered, both judges agree, and every kind of fault struck something. */
  readonly ok: boolean
  readonly subject: string
  readonly seed: number
  /** Of the source. */
  readonly records: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  readonly abortedSeen: number
  readonly openTransactions: number
  /** No record of the load is malformed: each of these was blamed for a fault. */
  readonly deadLetters: number
  /** Source records that were not relayed when the run was over. */
  readonly lag: number
  /** By kind: how often it struck something. */
  readonly faultsFired: Readonly<Record<string, number>>
  /** Kafka's own consumer saw, while it all happened, what the verifier found in the log afterwards. */
  readonly readerAgreed: boolean
  readonly kills: number
  readonly windows: number
  readonly abortedWindows: number
  readonly invocations: number
  /** The longest time in which no record at all could be written. */
  readonly loadGapMs: number
  /** Under load, without set-up, draining and proof. */
  readonly seconds: number
}

export interface ResultParts {
  readonly subject: string
  readonly seed: number
  readonly report: VerifyReport
  readonly tally: TallyResult
  readonly kinds: readonly string[]
  readonly events: readonly FaultEvent[]
  readonly invocations: number
  readonly loadGapMs: number
  readonly seconds: number
}

export function resultOf(parts: ResultParts): ChaosResult {
  const { report, tally, kinds, events } = parts
  const fired = (name: string) => events.filter((event) => event.name === name && event.hit !== null).length
  const faultsFired = Object.fromEntries(kinds.map((name) => [name, fired(name)]))
  const readerAgreed = agree(report, tally)
  const allFired = kinds.every((name) => fired(name) > 0)
  return {
    ok: report.ok && report.deadLetters === 0 && isClean(tally) && readerAgreed && allFired,
    subject: parts.subject,
    seed: parts.seed,
    records: report.records,
    lost: Math.max(report.lost, tally.lost - report.lag),
    duplicated: Math.max(report.duplicated, tally.duplicated),
    outOfOrder: Math.max(report.outOfOrder, tally.outOfOrder),
    abortedSeen: report.abortedSeen,
    openTransactions: report.openTransactions,
    deadLetters: report.deadLetters,
    lag: report.lag,
    faultsFired,
    readerAgreed,
    kills: fired('kill-function'),
    windows: report.committedTransactions,
    abortedWindows: report.abortedTransactions,
    invocations: parts.invocations,
    loadGapMs: parts.loadGapMs,
    seconds: Math.round(parts.seconds),
  }
}

const isClean = ({ lost, duplicated, outOfOrder, unexplained }: TallyResult): boolean =>
  lost + duplicated + outOfOrder + unexplained === 0

/** They count the same outputs, and the same of them as too many; what is not relayed yet the reader takes for lost. */
export function agree(report: VerifyReport, tally: TallyResult): boolean {
  return (
    tally.seen === visibleIn(report) &&
    tally.duplicated === report.duplicated &&
    tally.lost <= report.lost + report.lag &&
    tally.lost >= report.lost
  )
}

/** Outputs that the verifier found readers to see. */
export const visibleIn = ({ delivered, duplicated, ahead, unexplained, foreign }: VerifyReport): number =>
  delivered + duplicated + ahead + unexplained + foreign
