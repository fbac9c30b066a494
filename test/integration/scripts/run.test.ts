import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { runProcess } from '../../helpers/cli.ts'
import { runMarker, untilNothingLeft } from '../../helpers/leftovers.ts'

const script = join(import.meta.dirname, '..', '..', '..', 'scripts', 'run.mjs')

let dir: string
let runId: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fencepost-run-'))
  runId = crypto.randomUUID()
})
afterEach(async () => {
  await untilNothingLeft(runId, systemClock, 5_000)
  await rm(dir, { recursive: true, force: true })
})

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runProcess(process.execPath, [script, ...args], { ...process.env, ...env, [runMarker]: runId })

test('with nothing to set up, stdout and stderr are the program’s alone, and its exit code is passed on', async () => {
  const help = await run(['cli', 'dev', '--help']).ended
  expect(help.code).toBe(0)
  expect(help.stdout).toMatch(/^Usage: fencepost dev/)
  expect(help.stderr).toBe('')
  expect((await run(['cli', 'nonsense']).ended).code).toBe(2)
})

test('an unknown task is named beside the known ones', async () => {
  const { code, stderr } = await run(['dance']).ended
  expect(code).toBe(1)
  expect(stderr).toMatch(/Unknown task "dance"; give one of demo, cli, .*sim, .*crash-matrix, .*test\./)
})

test('a signal reaches the program, which stops all that it started', async () => {
  const dev = run(['cli', 'dev', '--json', '--dir', dir])
  await dev.firstLine
  dev.child.kill('SIGTERM')
  expect((await dev.ended).code).toBe(0)
})

test('a shell in between that dies of a signal, as that of npm does, is a signal too', async () => {
  const command = `"${process.execPath}" "${script}" cli dev --json --dir "${dir}"; exit $?`
  const env = { ...process.env, npm_lifecycle_event: 'fencepost', [runMarker]: runId }
  const shell = runProcess('sh', ['-c', command], env)
  await shell.firstLine
  shell.child.kill('SIGTERM')
  await shell.ended
})

test('set-up without Java, where it cannot be installed, says what to install', async () => {
  const { code, stdout, stderr } = await run(['cli', 'dev'], { PATH: dir, JAVA_HOME: dir }).ended
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toContain(`No java in JAVA_HOME (${dir}); Kafka needs Java 17 or later. Install it`)
})
