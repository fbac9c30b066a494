import { Command } from 'commander'
import { expect, test } from 'vitest'
import { type CommandEntry, runCli } from '../../../lib/cli/program.ts'
import { CommandFailed, Interrupted, type Terminal } from '../../../lib/cli/terminal.ts'
import { RelayError } from '../../../lib/errors.ts'

function recorded(): Terminal & { readonly stdout: string[]; readonly stderr: string[] } {
  const stdout: string[] = []
  const stderr: string[] = []
  return {
    stdout,
    stderr,
    out: (line) => stdout.push(line),
    err: (line) => stderr.push(line),
    color: false,
    interrupted: new AbortController().signal,
  }
}

const entry = (name: string, command: () => Command): CommandEntry => {
  return { name, about: `what ${name} does`, load: async () => command }
}

const failingWith = (error: unknown): CommandEntry =>
  entry('fail', () =>
    new Command('fail').option('--json').action(() => {
      throw error
    }),
  )

test('help goes to stdout and lists the commands', async () => {
  const terminal = recorded()
  expect(await runCli(['--help'], terminal)).toBe(0)
  expect(terminal.stdout.join('\n')).toMatch(/Usage: fencepost.*dev.*Examples:/s)
})

test('a module that is broken breaks its own command only, and by name', async () => {
  const broken = { name: 'broken', about: 'never loads', load: () => Promise.reject(new Error('no such package')) }
  const ran: string[] = []
  const entries = [broken, entry('fine', () => new Command('fine').action(() => void ran.push('fine')))]
  const terminal = recorded()
  expect(await runCli(['--help'], terminal, entries)).toBe(0)
  expect(await runCli(['fine'], terminal, entries)).toBe(0)
  expect(ran).toEqual(['fine'])
  expect(terminal.stdout.join('\n')).toMatch(/broken +never loads\n +fine +what fine does/)
  expect(terminal.stderr).toEqual([])
  expect(await runCli(['broken', '--help'], terminal, entries)).toBe(1)
  expect(terminal.stderr.join('\n')).toContain('no such package')
})

test('help of a command shows examples', async () => {
  const terminal = recorded()
  expect(await runCli(['dev', '--help'], terminal)).toBe(0)
  expect(terminal.stdout.join('\n')).toContain('$ fencepost dev --kafka 3.9')
})

test.each([
  [['nonsense'], 'unknown command'],
  [['dev', '--nonsense'], 'unknown option'],
  [['dev', '--kafka', '2.8'], "argument '2.8' is invalid. Allowed choices are 4.1, 3.9."],
  [['dev', '--brokers', 'localhost'], '"localhost" is not host:port'],
  [['dev', '--s3-port', '70000'], '"70000" is not a port from 1 to 65535'],
])('%j is a usage error: exit code 2, said on stderr', async (args, message) => {
  const terminal = recorded()
  expect(await runCli(args, terminal)).toBe(2)
  expect(terminal.stderr.join('\n')).toContain(message)
  expect(terminal.stdout).toEqual([])
})

test('a failure is one message on stderr and exit code 1', async () => {
  const terminal = recorded()
  const failure = failingWith(new RelayError('TOPIC_MISSING', 'no topic flights; create it'))
  expect(await runCli(['fail'], terminal, [failure])).toBe(1)
  expect(terminal.stderr).toEqual(['fencepost: TOPIC_MISSING: no topic flights; create it'])
})

test('with --json a failure is also the last line of stdout', async () => {
  const terminal = recorded()
  const failure = failingWith(new RelayError('TOPIC_MISSING', 'no topic flights'))
  await runCli(['fail', '--json'], terminal, [failure])
  expect(JSON.parse(terminal.stdout.at(-1) ?? '')).toEqual({
    ok: false,
    code: 'TOPIC_MISSING',
    message: 'TOPIC_MISSING: no topic flights',
  })
})

test('a command that has said no itself adds nothing', async () => {
  const terminal = recorded()
  expect(await runCli(['fail', '--json'], terminal, [failingWith(new CommandFailed())])).toBe(1)
  expect([...terminal.stdout, ...terminal.stderr]).toEqual([])
})

test('an interruption has the exit code of a shell', async () => {
  const terminal = recorded()
  expect(await runCli(['fail'], terminal, [failingWith(new Interrupted('SIGINT'))])).toBe(130)
  expect(terminal.stderr).toEqual(['fencepost: interrupted by SIGINT'])
})

test('an error that nobody expected keeps its stack', async () => {
  const terminal = recorded()
  expect(await runCli(['fail'], terminal, [failingWith(new TypeError('x is undefined'))])).toBe(1)
  expect(terminal.stderr.join('\n')).toMatch(/x is undefined\n.*program\.test\.ts/s)
})
