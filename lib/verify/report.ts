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
  readonly duplicated: number
  readonly unexplained: number
  readonly ahead: number
  readonly outOfOrder: number
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
  /** Lag is a reason not to call it proven. */
  readonly complete: boolean
  readonly seconds: number
}

export function reportOf(history: History, { findings, matching }: Judgement, options: ReportOptions): VerifyReport {
  const count = (check: string) => findings.find((finding) => finding.check === check)?.count ?? 0
  const verdict = verdictOf(findings, options.complete && count('lag') > 0)
  const { expected } = history
  const required = expected.standing.filter((one) => one === standing.required).length
  const lost = count('lost')
  const records = history.sources.reduce((all, source) => all + source.records, 0)
  const numbers = {
    records,
    expected: required,
    delivered: countDelivered(history, matching.isDelivered),
    lag: count('lag'),
  }
  return {
    ok: verdict === 'proven',
    verdict,
    sentence: sentenceOf(verdict, findings, numbers),
    relay: history.relay,
    by: history.by,
    ...numbers,
    lost,
    duplicated: count('duplicated'),
    unexplained: count('unexplained'),
    ahead: count('ahead'),
    outOfOrder: count('outOfOrder'),
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

function countDelivered({ expected }: History, isDelivered: Uint8Array): number {
  let delivered = 0
  for (let index = 0; index < isDelivered.length; index++) {
    if (isDelivered[index] === 1 && expected.standing[index] === standing.required) delivered++
  }
  return delivered
}

function verdictOf(findings: readonly Finding[], isIncomplete: boolean): VerifyReport['verdict'] {
  if (findings.some(({ status }) => status === 'violated')) return 'violated'
  return isIncomplete || findings.some(({ status }) => status === 'unproven') ? 'unproven' : 'proven'
}

function sentenceOf(
  verdict: VerifyReport['verdict'],
  findings: readonly Finding[],
  { records, expected, lag }: Pick<VerifyReport, 'records' | 'expected' | 'delivered' | 'lag'>,
): string {
  const wrong = findings.filter(({ status }) => status === verdict).map(({ detail }) => detail)
  const range = `${plural(records, 'record')} of the source`
  const rest = lag > 0 ? `; ${plural(lag, 'offset')} not relayed yet` : ''
  if (verdict === 'proven') {
    return `Proven: ${range} gave ${plural(expected, 'output')}, each visible exactly once and in order${rest}.`
  }
  if (verdict === 'unproven')
    return `Not proven: ${[...wrong, ...(lag > 0 ? [`${plural(lag, 'offset')} not relayed yet`] : [])].join('; ')}.`
  return `Violated: of ${range}, ${wrong.join('; ')}${rest}.`
}
