import { countTransactions } from './checks/transactions.ts'
import { type Finding, plural } from './finding.ts'
import { type History, standing } from './history.ts'
import type { Judgement } from './judge.ts'

/** The result, fit for JSON. Counts whose promise holds are 0. */
export interface VerifyReport {
  /** Proven: nothing is violated, and everything that was asked could be told. */
  readonly ok: boolean
  readonly verdict: 'proven' | 'violated' | 'unproven'
  /** For people, in one sentence. */
  readonly sentence: string
  readonly relay: string
  readonly by: 'transform' | 'ids'
  /** Of the source, below the committed offsets. */
  readonly records: number
  /** Outputs that they must give, dead letters included. */
  readonly expected: number
  /** Those of them that readers see. */
  readonly delivered: number
  readonly lost: number
  /** Cannot be seen now, may not be lost. */
  readonly unseen: number
  readonly duplicated: number
  readonly ahead: number
  readonly outOfOrder: number
  readonly unexplained: number
  /** By other producers: none of the relay's business. */
  readonly foreign: number
  readonly abortedSeen: number
  readonly openTransactions: number
  readonly abortedTransactions: number
  readonly committedTransactions: number
  readonly deadLetters: number
  /** Offsets that are not relayed yet. */
  readonly lag: number
  readonly seconds: number
  readonly findings: readonly Finding[]
}

export interface ReportOptions {
  /** Whatever is left to relay, readable yet or not, is a reason not to call it proven. */
  readonly complete: boolean
  readonly seconds: number
}

export function reportOf(judgement: Judgement, options: ReportOptions): VerifyReport {
  const { history, findings } = judgement
  const count = (check: string) => findings.find((finding) => finding.check === check)?.count ?? 0
  const isAllRelayed = findings.some(({ check, status }) => check === 'lag' && status === 'held')
  const verdict = verdictOf(findings, options.complete && !isAllRelayed)
  const totals = totalsOf(judgement)
  return {
    ok: verdict === 'proven',
    verdict,
    sentence: sentenceOf(verdict, findings, totals, history.guarantee),
    relay: history.relay,
    by: history.by,
    ...totals,
    lost: count('lost'),
    unseen: count('unseen'),
    duplicated: count('duplicated'),
    ahead: count('ahead'),
    outOfOrder: count('outOfOrder'),
    unexplained: count('unexplained'),
    foreign: count('foreign'),
    abortedSeen: count('abortedSeen'),
    openTransactions: count('openTransactions'),
    abortedTransactions: count('abortedTransactions'),
    committedTransactions: countTransactions(history).committed,
    deadLetters: count('deadLetters'),
    lag: count('lag'),
    seconds: options.seconds,
    findings,
  }
}

type Totals = Pick<VerifyReport, 'records' | 'expected' | 'delivered'>

function totalsOf({ history: { sources, expected }, matching: { isDelivered } }: Judgement): Totals {
  const totals = { records: 0, expected: 0, delivered: 0 }
  for (const { records } of sources) totals.records += records
  for (let index = 0; index < isDelivered.length; index++) {
    if (expected.standing[index] !== standing.required) continue
    totals.expected++
    if (isDelivered[index] === 1) totals.delivered++
  }
  return totals
}

function verdictOf(findings: readonly Finding[], isUnfinished: boolean): VerifyReport['verdict'] {
  if (findings.some(({ status }) => status === 'violated')) return 'violated'
  return isUnfinished || findings.some(({ status }) => status === 'unproven') ? 'unproven' : 'proven'
}

const promises: Readonly<Record<History['guarantee'], string>> = {
  'exactly-once': 'each visible exactly once and in order',
  'at-least-once': 'each visible at least once and in order',
  none: 'visible as far as nothing failed',
}

function sentenceOf(
  verdict: VerifyReport['verdict'],
  findings: readonly Finding[],
  totals: Totals,
  guarantee: History['guarantee'],
): string {
  const range = `${plural(totals.records, 'record')} of the source`
  const lag = findings.find(({ check, status }) => check === 'lag' && status !== 'held')
  const reasons = findings.filter(({ status }) => status === verdict).map(({ detail }) => detail)
  const rest = [...reasons, ...(lag ? [lag.detail] : [])].join('; ')
  if (verdict === 'violated') return `Violated, in ${range}: ${rest}.`
  if (verdict === 'unproven') return `Not proven, for ${range}: ${rest}.`
  const outputs = `${plural(totals.expected, 'output')}, ${promises[guarantee]}`
  return `Proven: ${range} gave ${outputs}${rest === '' ? '' : `; ${rest}`}.`
}
