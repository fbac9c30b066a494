import { expect, test } from 'vitest'
import { runCli } from '../../../lib/cli/program.ts'
import type { Terminal } from '../../../lib/cli/terminal.ts'
import { findingLines, reportLines, wrapped } from '../../../lib/cli/verify-text.ts'
import { judge } from '../../../lib/verify/judge.ts'
import { reportOf } from '../../../lib/verify/report.ts'
import { type HistoryMade, history } from '../../helpers/histories.ts'

function recorded(): Terminal & { readonly stdout: string[]; readonly stderr: string[] } {
  const stdout: string[] = []
  const stderr: string[] = []
  const interrupted = new AbortController().signal
  return {
    stdout,
    stderr,
    out: (line) => stdout.push(line),
    err: (line) => stderr.push(line),
    color: false,
    interrupted,
  }
}

function linesOf(made: HistoryMade): readonly string[] {
  return reportLines(reportOf(judge(history(made)), { complete: false, seconds: 1 }), recorded())
}

test('help tells the exit codes and shows examples', async () => {
  const terminal = recorded()
  expect(await runCli(['verify', '--help'], terminal)).toBe(0)
  expect(terminal.stdout.join('\n')).toMatch(/0 proven, 1 violated, 2 it cannot be told.*\$ fencepost verify --relay/s)
})

test.each([
  [['verify'], "required option '--relay <module>' not specified"],
  [['verify', '--relay', 'x.ts', '--last', 'soon'], '"soon" is not a duration such as 500ms, 90s, 30m, 1h or 7d'],
  [['verify', '--relay', 'x.ts', '--last', '0m'], '"0m" is not between 1s and 3650d'],
  [['verify', '--relay', 'x.ts', '--id', 'order'], '"order" is neither /a/json/pointer nor header:name'],
  [['verify', '--relay', 'x.ts', '--id', 'header:'], 'neither'],
])('%j is a usage error', async (args, message) => {
  const terminal = recorded()
  expect(await runCli(args, terminal)).toBe(2)
  expect(terminal.stderr.join('\n')).toContain(message)
})

test('a relay that cannot be loaded is no verdict: exit code 2, the reason on stderr and in the JSON', async () => {
  const terminal = recorded()
  expect(await runCli(['verify', '--relay', 'relays/nowhere.ts', '--json'], terminal)).toBe(2)
  expect(terminal.stderr).toEqual([
    expect.stringMatching(/it cannot be told: CONFIG_INVALID: relay module relays\/nowhere/),
  ])
  expect(JSON.parse(terminal.stdout.at(-1) ?? '')).toMatchObject({
    ok: false,
    verdict: 'unproven',
    code: 'CONFIG_INVALID',
  })
})

test('a module without a relay is refused with what to write', async () => {
  const terminal = recorded()
  expect(await runCli(['verify', '--relay', 'lib/units.ts'], terminal)).toBe(2)
  expect(terminal.stderr.join()).toContain('export default defineRelay({ ... })')
})

test('missing settings are named all at once', async () => {
  const terminal = recorded()
  expect(await runCli(['verify', '--relay', 'relays/delays.ts'], terminal)).toBe(2)
  expect(terminal.stderr.join()).toMatch(/FENCEPOST_PREFIX is missing.*FENCEPOST_BROKERS is missing/s)
})

test('brokers that are away are no verdict', async () => {
  const terminal = recorded()
  const where = ['--prefix', 'p', '--brokers', '127.0.0.1:1']
  expect(await runCli(['verify', '--relay', 'relays/delays.ts', ...where], terminal)).toBe(2)
  expect(terminal.stderr.join()).toContain('BROKER_UNAVAILABLE')
})

test('a proof is counts, one line a check, and a sentence', () => {
  const lines = linesOf({ sources: [{ gives: ['a', 'b'] }], outputs: [{ shows: ['a', 'b'] }] })
  expect(lines.slice(0, 4)).toEqual([
    'copy, verified by its own transform',
    '  records                  2',
    '  expected                 2',
    '  delivered                2',
  ])
  expect(lines.filter((line) => line.startsWith('✓'))).toHaveLength(20)
  expect(lines.slice(-2)).toEqual([
    'Proven: 2 records of the source gave 2 outputs, each visible exactly once',
    'and in order.',
  ])
})

test('a violation names its places, at most five of them, and fits 76 columns', () => {
  const gives = Array.from({ length: 9 }, (_, n) => `record ${n}`)
  const lines = linesOf({ sources: [{ gives }], outputs: [{ shows: gives.slice(0, 2) }] })
  const at = lines.indexOf('✗ 7 outputs of committed records missing')
  expect(lines.slice(at + 1, at + 7)).toEqual([
    ...[2, 3, 4, 5, 6].map((offset) => `    in/0/${offset}, not in out/0`),
    '    and 2 more',
  ])
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(76)
})

test('what holds shows no places', () => {
  const finding = { check: 'lost', status: 'held', count: 0, detail: 'fine', examples: ['x'] } as const
  expect(findingLines(finding, 76)).toEqual(['✓ fine'])
})

test('text is wrapped at blanks and long words are left whole', () => {
  expect(wrapped('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrapped('a verylongword b', 5)).toEqual(['a', 'verylongword', 'b'])
})

test.each([
  ['not relayed yet', { gives: ['a', 'b'], committed: 1n }],
  ['behind an open transaction of the source', { gives: ['a'], end: 5n }],
])('asked whether all is relayed, something %s is left', (_, source) => {
  const judgement = judge(history({ sources: [source], outputs: [{ shows: ['a'] }] }))
  expect(reportOf(judgement, { complete: true, seconds: 1 })).toMatchObject({ ok: false, verdict: 'unproven' })
  expect(reportOf(judgement, { complete: false, seconds: 1 })).toMatchObject({ ok: true, verdict: 'proven' })
})
