import { expect, test } from 'vitest'
import { runCli } from '../../../lib/cli/program.ts'
import type { Terminal } from '../../../lib/cli/terminal.ts'

const relay = ['--relay', 'relays/delays.ts']

test.each([
  [['--create-topics'], '--create-topics is about relays: give --relay <module> too'],
  [['--trigger', 'pull'], '--trigger is about relays'],
  [[...relay, '--every', '5s'], '--every is about pulls: give --trigger pull too'],
  [[...relay, '--trigger', 'pull', '--batch-size', '5'], '--batch-size is about events: leave out --trigger pull'],
  [[...relay, '--trigger', 'push'], 'Allowed choices are event, pull'],
  [[...relay, '--timeout', '15m'], '"15m" is not between 3s and 14m'],
  [[...relay, '--timeout', '30'], '"30" is not a duration such as 500ms'],
  [[...relay, '--memory', '64'], '"64" is not a whole number from 128 to 10,240'],
  [[...relay, '--create-topics', '0'], '"0" is not a whole number from 1 to 10,000'],
  [[...relay, '--env', 'NAME'], '"NAME" is not NAME=value'],
])('dev %j is a usage error that says what is wanted', async (args, message) => {
  const stderr: string[] = []
  const terminal: Terminal = {
    out: (line) => stderr.push(`out: ${line}`),
    err: (line) => stderr.push(line),
    color: false,
    interrupted: new AbortController().signal,
  }
  expect(await runCli(['dev', ...args], terminal)).toBe(2)
  expect(stderr.join('\n')).toContain(message)
})
