import type { DemoOptions, DemoOutcome } from '../local/demo/demo.ts'
import type { OutputCount } from '../local/demo/result.ts'
import { figure, plural } from '../verify/finding.ts'
import { bold, CommandFailed, type Terminal } from './terminal.ts'
import { columnsOf, findingLines, wrapped } from './verify-text.ts'

type DemoPlan = Pick<DemoOptions, 'records' | 'arrivalMs' | 'killsPerMinute'>

/** What is going to happen. */
export function demoIntroduction({ records, arrivalMs, killsPerMinute }: DemoPlan): readonly string[] {
  const [flights, seconds] = [plural(records, 'flight'), figure(arrivalMs / 1_000)]
  return [
    '',
    `${flights} arrive in a Kafka topic within ${seconds} s; functions sort late from on time.`,
    killsPerMinute === 0
      ? 'No function is killed this time.'
      : `Meanwhile ${figure(killsPerMinute)} functions a minute are killed in the middle of their work (SIGKILL).`,
    'Then all is read back from the log: did every flight take effect once, in order?',
    '',
  ]
}

/**
 * Tells what has happened and whether it is proven; with `json` the result is the last line of stdout.
 * @throws CommandFailed unless it is proven
 */
export function concludeDemo(outcome: DemoOutcome, terminal: Terminal, json: boolean): void {
  for (const line of conclusion(outcome, terminal)) (json ? terminal.err : terminal.out)(line)
  if (json) terminal.out(JSON.stringify(outcome.result))
  if (!outcome.result.ok) throw new CommandFailed()
}

function conclusion(outcome: DemoOutcome, terminal: Terminal): readonly string[] {
  const { counts, report, last, containerBytesMax, logDir } = outcome
  const columns = columnsOf(terminal)
  const took = `${plural(last.invocations, 'invocation')} took ${Math.round(last.seconds)} s`
  return [
    '',
    row('', 'arrived', 'delivered'),
    ...counts.map(countRow),
    '',
    ...report.findings.flatMap((finding) => findingLines(finding, columns)),
    '',
    ...wrapped(verdict(outcome), columns).map((line) => bold(terminal, line)),
    ...wrapped(killsSentence(outcome), columns),
    `${took}; the largest container had ${Math.ceil(containerBytesMax / 2 ** 20)} MiB.`,
    `Logs: ${logDir}`,
  ]
}

const nameCells = 18
const countCells = 12

const row = (name: string, first: string, second: string): string =>
  `${name.padEnd(nameCells)}${first.padStart(countCells)}${second.padStart(countCells)}`

const countRow = ({ topic, wanted, found }: OutputCount): string =>
  row(topic, figure(wanted), figure(found)) + (wanted === found ? '' : '  ✗')

/** Who wrote the flights and who read the outputs counted for themselves: the verifier alone is not believed. */
const verdict = ({ result, report }: DemoOutcome): string =>
  result.ok || !report.ok ? report.sentence : 'Not proven: what arrived and what was delivered are not the same number.'

function killsSentence({ result, report, last }: DemoOutcome): string {
  const killed = `${plural(result.kills, 'function')} ${result.kills === 1 ? 'was' : 'were'} killed at work.`
  const neverHappened = last.seenUncommitted - last.seenCommitted
  if (neverHappened === 0) return killed
  const aborted = plural(report.abortedTransactions, 'transaction')
  return `${killed} What they left open was aborted: ${aborted}, ${plural(neverHappened, 'output')} that only read_uncommitted saw.`
}
