import type { DemoProgress } from '../local/demo/progress.ts'
import { figure } from '../verify/finding.ts'
import { bold, type Screen, type Terminal } from './terminal.ts'

/** Where the course of things is shown. */
export interface DemoScreen {
  /** A step, once. */
  say(line: string): void
  /** How things stand: `lines` drawn anew on a terminal; elsewhere `plainLine`, at most one a second. */
  show(lines: readonly string[], plainLine: string): void
}

const barCells = 30
const plainEveryMs = 1_000

export function demoScreen(terminal: Terminal, json: boolean, now: () => number): DemoScreen {
  return terminal.screen && !json ? redrawn(terminal, terminal.screen) : plain(terminal, now)
}

function redrawn(terminal: Terminal, screen: Screen): DemoScreen {
  let drawn = 0
  const fitted = (line: string): string =>
    line.slice(0, screen.columns - 1).replace(/^ {2}\w+(?= {2})/, (label) => bold(terminal, label))
  return {
    say(line) {
      drawn = 0
      terminal.err(`  ${line}`)
    },
    show(lines) {
      const back = drawn > 0 ? `\u001b[${drawn}A\r\u001b[J` : '\n'
      drawn = lines.length
      screen.write(`${back}${lines.map(fitted).join('\n')}\n`)
    },
  }
}

function plain(terminal: Terminal, now: () => number): DemoScreen {
  let toldAtMs = Number.NEGATIVE_INFINITY
  return {
    say: (line) => terminal.err(`fencepost: ${line}`),
    show(_lines, plainLine) {
      if (now() - toldAtMs < plainEveryMs) return
      toldAtMs = now()
      terminal.err(`fencepost: ${plainLine}`)
    },
  }
}

/** Fits into 80 columns. */
export function progressLines(progress: DemoProgress): readonly string[] {
  const { seconds, records, relayed, seenUncommitted, seenCommitted } = progress
  const { invocations, windows, kills, redeliveries } = progress
  const filled = Math.floor((barCells * relayed) / records)
  const bar = '█'.repeat(filled) + '░'.repeat(barCells - filled)
  const width = Math.max(figure(seenUncommitted).length, figure(seenCommitted).length)
  const seen = (count: number) => figure(count).padStart(width)
  return [
    `  flights    ${bar} ${figure(relayed)} of ${figure(records)} relayed`,
    `             ${figure(waiting(progress))} have arrived and wait, ${Math.floor(seconds)} s`,
    `  outputs    ${seen(seenUncommitted)} seen by read_uncommitted, ${figure(doubtful(progress))} open or aborted`,
    `             ${seen(seenCommitted)} seen by read_committed, all of them final`,
    `  functions  ${figure(invocations)} invocations, ${figure(windows)} transactions committed`,
    `             ${figure(kills)} killed at work, ${figure(redeliveries)} batches delivered again`,
  ]
}

export function progressLine(progress: DemoProgress): string {
  const { seconds, records, relayed, seenUncommitted, seenCommitted, windows, invocations, kills } = progress
  const parts = [
    `${Math.floor(seconds)} s: ${figure(relayed)} of ${figure(records)} relayed`,
    `${figure(waiting(progress))} waiting`,
    `read_uncommitted sees ${figure(seenUncommitted)}`,
    `read_committed ${figure(seenCommitted)}`,
    `${figure(windows)} transactions`,
    `${figure(invocations)} invocations`,
    `${figure(kills)} killed`,
  ]
  return parts.join(', ')
}

/** The counts are taken one after another: what was read first may be the smaller by a little. */
const waiting = ({ arrived, relayed }: DemoProgress): number => Math.max(0, arrived - relayed)
const doubtful = ({ seenUncommitted, seenCommitted }: DemoProgress): number =>
  Math.max(0, seenUncommitted - seenCommitted)
