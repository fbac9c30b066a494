import { type Finding, figure } from '../verify/finding.ts'
import type { VerifyReport } from '../verify/report.ts'
import { bold, type Terminal } from './terminal.ts'

const signs: Readonly<Record<Finding['status'], string>> = { held: '✓', noted: '·', unproven: '?', violated: '✗' }
const columnsMost = 76

/** How wide text may be: short lines are read more easily than long ones. */
export const columnsOf = ({ screen }: Terminal): number => Math.min(screen?.columns ?? columnsMost, columnsMost)

/** The report for people: what was counted, what each check found, and the whole of it in a sentence. */
export function reportLines(report: VerifyReport, terminal: Terminal): readonly string[] {
  const columns = columnsOf(terminal)
  return [
    ...countLines(report),
    '',
    ...report.findings.flatMap((finding) => findingLines(finding, columns)),
    '',
    ...wrapped(report.sentence, columns).map((line) => bold(terminal, line)),
  ]
}

function countLines(report: VerifyReport): readonly string[] {
  const counts = [
    ['records', report.records],
    ['expected', report.expected],
    ['delivered', report.delivered],
    ['lost', report.lost],
    ['duplicated', report.duplicated],
    ['out of order', report.outOfOrder],
  ] as const
  return [titleOf(report), ...counts.map(([name, count]) => `  ${name.padEnd(12)} ${figure(count).padStart(13)}`)]
}

const titleOf = ({ relay, by }: VerifyReport): string =>
  `${relay}, verified by ${by === 'ids' ? 'ids' : 'its own transform'}`

/** One check, and where it found something. */
export function findingLines({ status, detail, examples, count }: Finding, columns: number): readonly string[] {
  const [first = '', ...rest] = wrapped(detail, columns - 2)
  const places = status === 'held' ? [] : examples
  const more = places.length > 0 && count > places.length ? [`and ${figure(count - places.length)} more`] : []
  return [
    `${signs[status]} ${first}`,
    ...rest.map((line) => `  ${line}`),
    ...[...places, ...more].flatMap((place) => wrapped(place, columns - 4)).map((line) => `    ${line}`),
  ]
}

/** At blanks; a word that is too long for a line has its own. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && longer.length > columns) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
