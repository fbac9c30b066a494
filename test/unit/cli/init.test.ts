import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../../lib/cli/program.ts'

async function run(...args: readonly string[]) {
  const lines: string[] = []
  const errors: string[] = []
  const code = await runCli(['init', ...args], {
    out: (line) => lines.push(line),
    err: (line) => errors.push(line),
    color: false,
    interrupted: new AbortController().signal,
  })
  return { code, out: lines.join('\n'), errors: errors.join('\n') }
}

async function newFolder(name: string): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'fencepost-init-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  return join(parent, name)
}

/** Without npm: what is installed, and how a checkout is packed, `npm run test:init` shows. */
const offline = ['--no-install', '--package', '1.2.3'] as const

test('a service is made and what to do next is said, the install first', async () => {
  const folder = await newFolder('shop')
  const { code, out } = await run(folder, '--relay', 'large-orders', ...offline)
  expect(code).toBe(0)
  expect(out).toMatch(/is made\. Next:\n {2}cd \S+\n {2}npm install\n {2}npm test .*relays\/large-orders\.ts/s)
  expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({
    name: 'shop',
    dependencies: { fencepost: '1.2.3' },
  })
})

test('--json names folder, relay, dependency and every file', async () => {
  const folder = await newFolder('my-relay')
  const { out } = await run(folder, ...offline, '--json')
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    folder,
    service: 'my-relay',
    relay: 'my-relay',
    fencepost: '1.2.3',
    installed: false,
    files: expect.arrayContaining(['relays/my-relay.ts', 'serverless.yml']),
  })
})

test('a packed file is named from here, and found from the folder', async () => {
  const folder = await newFolder('my-relay')
  const { out } = await run(folder, '--no-install', '--json', '--package', join(folder, '..', 'fencepost-1.2.3.tgz'))
  expect(JSON.parse(out)).toMatchObject({ fencepost: 'file:../fencepost-1.2.3.tgz' })
})

test('a second time it is refused, and nothing is overwritten', async () => {
  const folder = await newFolder('my-relay')
  await run(folder, ...offline)
  const { code, out, errors } = await run(folder, ...offline, '--relay', 'other', '--json')
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({ ok: false, code: 'CONFIG_INVALID' })
  expect(errors).toMatch(/holds 7 files .* nothing is overwritten/)
  expect(await readFile(join(folder, 'serverless.yml'), 'utf8')).toContain('my-relay: { latency: 5s }')
})

test('names that nothing could be deployed under are refused before anything is made', async () => {
  const folder = await newFolder('My Relay')
  const { code, errors } = await run(folder, '--relay', 'a.b', ...offline)
  expect(code).toBe(1)
  expect(errors).toMatch(/2 problems\n.*the name of the folder is 'My Relay'.*\n.*--relay is 'a\.b'/)
  await expect(readFile(join(folder, 'package.json'))).rejects.toThrow(/ENOENT/)
})
