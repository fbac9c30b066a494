import type { Finding, Status } from '../preflight/finding.ts'
import type { PreflightReport } from '../preflight/preflight.ts'
import { plural } from '../verify/finding.ts'
import { bold, type Terminal } from './terminal.ts'
import { columnsOf, wrapped } from './verify-text.ts'

const signs: Readonly<Record<Status, string>> = { ok: '✓', warn: '!', fail: '✗', unknown: '?' }
const labelMost = 22

/** The report for people: what is fine in a line for each thing, what is not with its fix, and the sum. */
export function preflightLines(report: PreflightReport, terminal: Terminal): readonly string[] {
  const things = [...Map.groupBy(report.checks, ({ about }) => about)]
  const labelWidth = Math.min(labelMost, Math.max(...things.map(([about]) => about.length)))
  const block = new Block(labelWidth, columnsOf(terminal))
  return [
    ...things.flatMap(([about, findings]) => [
      ...fineLines(block, about, findings),
      ...findings.filter(({ status }) => status !== 'ok').flatMap((finding) => wrongLines(block, finding)),
    ]),
    '',
    ...wrapped(sum(report), columnsOf(terminal)).map((line) => bold(terminal, line)),
  ]
}

/** A sign, a label, and text beside the label on as many lines as it takes. */
class Block {
  readonly #labelWidth: number
  readonly #columns: number

  constructor(labelWidth: number, columns: number) {
    this.#labelWidth = labelWidth
    this.#columns = columns
  }

  lines(sign: string, label: string, text: string): readonly string[] {
    const indent = this.#labelWidth + 4
    const [first = '', ...rest] = wrapped(text, this.#columns - indent)
    const head = `${sign} ${label}`.padEnd(indent)
    const isLong = label.length > this.#labelWidth
    return [
      ...(isLong ? [head, `${' '.repeat(indent)}${first}`] : [`${head}${first}`]),
      ...rest.map((line) => `${' '.repeat(indent)}${line}`),
    ].map((line) => line.trimEnd())
  }
}

function fineLines(block: Block, about: string, findings: readonly Finding[]): readonly string[] {
  const fine = findings.filter(({ status }) => status === 'ok')
  if (fine.length === 0) return []
  const items = fine.map(({ what, found }) => together(`${what} ${found}`))
  return block.lines(signs.ok, about, items.join(', ')).map((line) => line.replaceAll(unbroken, ' '))
}

/** Stands for a blank at which a line must not break: a setting and its value stay together. */
const unbroken = '\u00a0'
const togetherMost = 45
const together = (item: string): string => (item.length > togetherMost ? item : item.replaceAll(' ', unbroken))

function wrongLines(block: Block, { status, about, what, found, wanted, fix }: Finding): readonly string[] {
  const says = status === 'unknown' ? `${what} is not known: ${found}` : `${what} is ${found}, wanted ${wanted}`
  return [...block.lines(signs[status], about, says), ...(fix === null ? [] : block.lines(' ', '', `fix: ${fix}`))]
}

function sum({ counts, ok }: PreflightReport): string {
  const { ok: fine, warn, fail, unknown } = counts
  const parts = [
    `${fine} ok`,
    ...(warn > 0 ? [plural(warn, 'warning')] : []),
    ...(fail > 0 ? [plural(fail, 'failure')] : []),
    ...(unknown > 0 ? [`${unknown} not known`] : []),
  ]
  return `${parts.join(', ')}. ${ok ? 'Ready to relay.' : 'Not ready: mend what fails first.'}`
}
