import { expect, test } from 'vitest'
import { concludeDemo, demoIntroduction } from '../../../lib/cli/demo-report.ts'
import { CommandFailed, type Terminal } from '../../../lib/cli/terminal.ts'
import type { DemoOutcome } from '../../../lib/local/demo/demo.ts'
import type { VerifyReport } from '../../../lib/verify/report.ts'

const finding = {
  check: 'lost',
  status: 'held',
  count: 0,
  detail: 'every record has its outputs',
  examples: [],
} as const
const report = { ok: true, sentence: 'Proven: all of it.', abortedTransactions: 2, findings: [finding] }
const outcome = {
  result: { ok: true, kills: 5 },
  report: report as unknown as VerifyReport,
  counts: [{ topic: 'flights.late', wanted: 1_234, found: 1_234 }],
  last: { seenUncommitted: 1_300, seenCommitted: 1_234, invocations: 9, seconds: 12.3 },
  containerBytesMax: 100 * 2 ** 20,
  logDir: 'somewhere/logs',
} as unknown as DemoOutcome

function conclude(over: Partial<DemoOutcome> = {}, json = false) {
  const stdout: string[] = []
  const stderr: string[] = []
  const terminal: Terminal = {
    out: (line) => stdout.push(line),
    err: (line) => stderr.push(line),
    color: false,
    interrupted: new AbortController().signal,
  }
  let failure: unknown = null
  try {
    concludeDemo({ ...outcome, ...over }, terminal, json)
  } catch (error) {
    failure = error
  }
  return { stdout, stderr, failure, text: stdout.join('\n') }
}

test('what is proven is told on stdout: counts, checks, the sentence, the kills, where logs are', () => {
  const { text, stderr, failure } = conclude()
  expect(failure).toBe(null)
  expect(stderr).toEqual([])
  expect(text).toMatch(/flights\.late +1,234 +1,234\n/)
  expect(text).toContain('✓ every record has its outputs')
  const asOneLine = text.replaceAll('\n', ' ')
  expect(asOneLine).toContain('Proven: all of it. 5 functions were killed at work. What they left open was aborted:')
  expect(asOneLine).toContain('2 transactions, 66 outputs that only read_uncommitted saw.')
  expect(text).toContain('Logs: somewhere/logs')
})

test('with --json stdout has the result and nothing else', () => {
  const { stdout, stderr } = conclude({}, true)
  expect(stdout).toEqual([JSON.stringify(outcome.result)])
  expect(stderr.join('\n')).toContain('Proven')
})

test('what the verifier finds violated is marked, and the command fails', () => {
  const violated = { ...report, ok: false, sentence: 'Violated.', findings: [{ ...finding, status: 'violated' }] }
  const { text, failure } = conclude({
    result: { ...outcome.result, ok: false },
    report: violated as unknown as VerifyReport,
  })
  expect(failure).toBeInstanceOf(CommandFailed)
  expect(text).toContain('✗ every record')
  expect(text).toContain('Violated.')
})

test('counts that disagree are marked and contradict the verifier', () => {
  const counts = [{ topic: 'flights.late', wanted: 1_234, found: 1_235 }]
  const { text, failure } = conclude({ result: { ...outcome.result, ok: false }, counts })
  expect(failure).toBeInstanceOf(CommandFailed)
  expect(text).toMatch(/1,234 +1,235 {2}✗/)
  expect(text).toContain('Not proven')
  expect(text).not.toContain('Proven:')
})

test('one kill that left nothing open is told in the singular', () => {
  const { text } = conclude({
    result: { ...outcome.result, kills: 1 },
    last: { ...outcome.last, seenUncommitted: 1_234 },
  })
  expect(text).toContain('1 function was killed at work.\n')
})

test('the introduction says what is going to happen, with the numbers of this run', () => {
  const plan = { records: 300_000, arrivalMs: 20_000, killsPerMinute: 60 }
  expect(demoIntroduction(plan).join('\n')).toMatch(/300,000 flights .* 20 s.*\n.* 60 functions a minute/)
  expect(demoIntroduction({ ...plan, killsPerMinute: 0 }).join('\n')).toContain('No function is killed')
})
