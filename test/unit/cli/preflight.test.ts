import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runCli } from '../../../lib/cli/program.ts'
import type { Terminal } from '../../../lib/cli/terminal.ts'

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

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-none-'))
  for (const name of Object.keys(process.env)) if (name.startsWith('FENCEPOST_')) vi.stubEnv(name, '')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(dir, { recursive: true })
})

test.each([
  [['--acls'], '--acls needs --relay and --prefix'],
  [['--sweep-every', '10'], '"10" is not a duration'],
  [['--sweep-every', '30s'], '"30s" is not between 1m and 7d'],
  [['--brokers', 'nowhere'], 'is not host:port'],
])('%j is a usage error', async (args, message) => {
  const terminal = recorded()
  expect(await runCli(['preflight', ...args], terminal)).toBe(2)
  expect(terminal.stderr.join('\n')).toContain(message)
})

test('where nothing says which deployment is meant, all that is missing is named', async () => {
  const terminal = recorded()
  expect(await runCli(['preflight', '--dir', dir, '--json'], terminal)).toBe(1)
  for (const name of ['PREFIX', 'BROKERS', 'TABLE'])
    expect(terminal.stderr.join()).toContain(`FENCEPOST_${name} is missing`)
  expect(JSON.parse(terminal.stdout.at(-1) ?? '')).toMatchObject({ ok: false, code: 'CONFIG_INVALID' })
})

const deployment = ['--prefix', 'shop', '--brokers', '127.0.0.1:1', '--table', 'fences']

test('no relay, and a template that is none, are named', async () => {
  const withoutRelay = recorded()
  expect(await runCli(['preflight', ...deployment], withoutRelay)).toBe(1)
  expect(withoutRelay.stderr.join()).toContain('no relay is given: name its module with --relay')

  const template = recorded()
  const args = ['--relay', 'relays/delays.ts', '--template', 'README.md']
  expect(await runCli(['preflight', ...deployment, ...args], template)).toBe(1)
  expect(template.stderr.join()).toMatch(/template README\.md cannot be read as JSON .*serverless package/)
})

test('--acls prints the commands for a principal, the optional ones marked, and asks nobody', async () => {
  const terminal = recorded()
  const args = ['--relay', 'relays/delays.ts', '--prefix', 'shop', '--acls', 'User:shop']
  expect(await runCli(['preflight', ...args], terminal)).toBe(0)
  expect(terminal.stdout).toContain(
    'kafka-acls.sh --add --allow-principal User:shop --operation Read --group shop.delays',
  )
  expect(terminal.stdout.at(-1)).toMatch(/--operation DescribeConfigs --cluster {2}# optional$/)

  const json = recorded()
  expect(await runCli(['preflight', ...args, '--json'], json)).toBe(0)
  expect(JSON.parse(json.stdout[0] ?? '').acls).toHaveLength(terminal.stdout.length)
})
