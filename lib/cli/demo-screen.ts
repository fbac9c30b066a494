import type { DemoProgress } from '../local/demo/progress.ts'
import type { Screen, Terminal } from './terminal.ts'

/** Where the demo's course is shown: drawn anew on a terminal, a line a second elsewhere. */
export interface DemoScreen {
  say(line: string): void
  progress(progress: DemoProgress): void
}

const barCells = 30
const plainEverySeconds = 1

export const demoScreen = (terminal: Terminal, json: boolean): DemoScreen =>
  terminal.screen && !json ? redrawn(terminal, terminal.screen) : plain(terminal)

function redrawn(terminal: Terminal, screen: Screen): DemoScreen {
  let drawn = 0
  return {
    say(line) {
      drawn = 0
      terminal.err(`  ${line}`)
    },
    progress(progress) {
      const lines = progressLines(progress).map((line) => line.slice(0, screen.columns - 1))
      const back = drawn > 0 ? `\u001b[${drawn}A\r\u001b[J` : '\n'
      drawn = lines.length
      screen.write(`${back}${lines.join('\n')}\n`)
    },
  }
}

function plain(terminal: Terminal): DemoScreen {
  let toldAtSeconds = Number.NEGATIVE_INFINITY
  return {
    say: (line) => terminal.err(`fencepost: ${line}`),
    progress(progress) {
      if (progress.seconds - toldAtSeconds < plainEverySeconds) return
      toldAtSeconds = progress.seconds
      terminal.err(`fencepost: ${progressLine(progress)}`)
    },
  }
}

/** For a terminal of at least 80 columns. */
export function progressLines(progress: DemoProgress): readonly string[] {
  const { seconds, records, arrived, relayed, seenUncommitted, seenCommitted } = progress
  const { invocations, windows, kills, redeliveries } = progress
  const filled = Math.floor((barCells * relayed) / records)
  const bar = '█'.repeat(filled) + '░'.repeat(barCells - filled)
  const [loose, final] = [figure(seenUncommitted), figure(seenCommitted)]
  const width = Math.max(loose.length, final.length)
  const doubtful = figure(Math.max(0, seenUncommitted - seenCommitted))
  return [
    `  flights    ${bar} ${figure(relayed)} of ${figure(records)} relayed, ${Math.floor(seconds)} s`,
    `             ${figure(Math.max(0, arrived - relayed))} have arrived and wait`,
    `  outputs    ${loose.padStart(width)} seen by read_uncommitted, ${doubtful} of them open or aborted`,
    `             ${final.padStart(width)} seen by read_committed, all final`,
    `  functions  ${figure(invocations)} invocations, ${figure(windows)} windows committed`,
    `             ${figure(kills)} killed at work, ${figure(redeliveries)} batches delivered again`,
  ]
}

export function progressLine(progress: DemoProgress): string {
  const { seconds, records, arrived, relayed, seenUncommitted, seenCommitted } = progress
  const { invocations, windows, kills } = progress
  const parts = [
    `${seconds.toFixed(0)} s: ${figure(relayed)} of ${figure(records)} relayed`,
    `${figure(Math.max(0, arrived - relayed))} waiting`,
    `read_uncommitted sees ${figure(seenUncommitted)}`,
    `read_committed ${figure(seenCommitted)}`,
    `${figure(windows)} windows`,
    `${figure(invocations)} invocations`,
    `${figure(kills)} killed`,
  ]
  return parts.join(', ')
}

export const figure = (count: number): string => count.toLocaleString('en')
