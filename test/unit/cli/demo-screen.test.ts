import { expect, test } from 'vitest'
import { demoScreen, progressLine, progressLines } from '../../../lib/cli/demo-screen.ts'
import type { Terminal } from '../../../lib/cli/terminal.ts'
import type { DemoProgress } from '../../../lib/local/demo/progress.ts'

const all = 3_000_000
const busiest: DemoProgress = {
  seconds: 1_234.5,
  records: all,
  arrived: all,
  relayed: all - 1,
  seenUncommitted: all + 123_456,
  seenCommitted: all,
  kills: 1_234,
  redeliveries: 12_345,
  invocations: 123_456,
  windows: 123_456,
}

function terminal(columns?: number) {
  const lines: string[] = []
  const written: string[] = []
  const screen = columns === undefined ? {} : { screen: { columns, write: (text: string) => written.push(text) } }
  const made: Terminal = {
    out: () => undefined,
    err: (line) => lines.push(line),
    color: false,
    interrupted: new AbortController().signal,
    ...screen,
  }
  return { made, lines, written }
}

test('the progress of the largest demo fits into 80 columns', () => {
  for (const line of progressLines(busiest)) expect(line.length).toBeLessThan(80)
})

test('the bar is full only when everything is relayed', () => {
  expect(progressLines(busiest)[0]).toContain('░ ')
  expect(progressLines({ ...busiest, relayed: all })[0]).not.toContain('░')
})

test('both readers are shown side by side, and what only one of them sees', () => {
  const [, , loose, final] = progressLines(busiest)
  expect(loose).toContain('3,123,456 seen by read_uncommitted, 123,456 open or aborted')
  expect(final).toContain('3,000,000 seen by read_committed')
  expect(progressLine(busiest)).toContain('read_uncommitted sees 3,123,456, read_committed 3,000,000')
})

test('counts taken one after another never show as less than nothing', () => {
  const early = { ...busiest, arrived: 5, relayed: 9, seenUncommitted: 5, seenCommitted: 9 }
  expect(progressLines(early).join(' ')).toContain(' 0 have arrived')
  expect(progressLines(early).join(' ')).toContain(' 0 open or aborted')
  expect(progressLine(early)).toContain(' 0 waiting')
})

test('a terminal is drawn anew over as many lines as stand there, cut to its width', () => {
  const { made, written } = terminal(10)
  const screen = demoScreen(made, false, () => 0)
  screen.show(['one', 'a line that is too long'], '')
  screen.show(['two', 'more'], '')
  expect(written).toEqual(['\none\na line th\n', '\u001b[2A\r\u001b[Jtwo\nmore\n'])
})

test('what is said stays: the next drawing begins below it', () => {
  const { made, lines, written } = terminal(80)
  const screen = demoScreen(made, false, () => 0)
  screen.show(['one'], '')
  screen.say('step')
  screen.show(['two'], '')
  expect(lines).toEqual(['  step'])
  expect(written[1]).toBe('\ntwo\n')
})

test.each([
  ['without a terminal', undefined, false],
  ['with --json', 80, true],
])('%s there are plain lines, at most one a second', (_, columns, json) => {
  const { made, lines, written } = terminal(columns)
  let nowMs = 0
  const screen = demoScreen(made, json, () => nowMs)
  for (nowMs = 0; nowMs < 2_500; nowMs += 100) screen.show(['drawn'], `at ${nowMs}`)
  screen.say('step')
  expect(lines).toEqual(['fencepost: at 0', 'fencepost: at 1000', 'fencepost: at 2000', 'fencepost: step'])
  expect(written).toEqual([])
})
