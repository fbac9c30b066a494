import type { DemoOptions, DemoOutcome } from '../local/demo/demo.ts'
import type { OutputCount } from '../local/demo/result.ts'
import { type Finding, figure, plural } from '../verify/finding.ts'
import { bold, type Terminal } from './terminal.ts'

type DemoPlan = Pick<DemoOptions, 'records' | 'arrivalMs' | 'killsPerMinute'>

/** What is going to happen. */
export function demoIntroduction({ records, arrivalMs, killsPerMinute }: DemoPlan): readonly string[] {
  return [
    '',
    `${figure(records)} flights arrive in a Kafka topic within ${figure(arrivalMs / 1_000)} s. Functions sort them into late and on time.`,
    killsPerMinute === 0
      ? 'No function is killed this time.'
      : `Meanwhile ${figure(killsPerMinute)} functions a minute are killed in the middle of their work (SIGKILL).`,
    'Then all is read back from the log: has every flight taken effect exactly once, in order?',
    '',
  ]
}

const nameCells = 18
const countCells = 12

/** What has happened, and whether it is proven. */
export function demoConclusion({ counts, ...outcome }: DemoOutcome, terminal: Terminal): readonly string[] {
  const { report, last, containerBytesMax, logDir } = outcome
  return [
    '',
    row('', 'arrived', 'delivered'),
    ...counts.map(countRow),
    '',
    ...report.findings.map(findingLine),
    '',
    bold(terminal, report.sentence),
    killsSentence(outcome),
    `${figure(last.invocations)} invocations took ${Math.round(last.seconds)} s; the largest container had ${Math.ceil(containerBytesMax / 2 ** 20)} MiB.`,
    `Logs: ${logDir}`,
  ]
}

const row = (name: string, first: string, second: string): string =>
  `  ${name.padEnd(nameCells)}${first.padStart(countCells)}${second.padStart(countCells)}`

const countRow = ({ topic, wanted, found }: OutputCount): string =>
  row(topic, figure(wanted), figure(found)) + (wanted === found ? '' : '  ✗')

const signs: Readonly<Record<Finding['status'], string>> = { held: '✓', noted: '·', unproven: '?', violated: '✗' }

const findingLine = ({ status, detail }: Finding): string => `  ${signs[status]} ${detail}`

function killsSentence({ result, report, last }: Omit<DemoOutcome, 'counts'>): string {
  const killed = `${plural(result.kills, 'function')} ${result.kills === 1 ? 'was' : 'were'} killed at work`
  const neverHappened = last.seenUncommitted - last.seenCommitted
  if (neverHappened === 0) return `${killed}.`
  const aborted = plural(report.abortedTransactions, 'transaction')
  return `${killed}. What they left open was aborted: ${aborted}, ${plural(neverHappened, 'output')} that only read_uncommitted saw.`
}
