/**
 * `npm run test:init`: what somebody does who has never seen this checkout. Packs it, makes a service from the packed
 * package, tests and packages it there. Apart from `npm test`, because npm installs some 300 packages.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../lib/local/command.ts'
import { minutes, seconds } from '../../lib/units.ts'

const checkout = join(import.meta.dirname, '..', '..')
const installingMs = minutes(8)
const workingMs = minutes(2)

/** Nothing of this checkout on the path, no settings of the npm that runs this, no account. */
const environment = Object.fromEntries(
  Object.entries(process.env)
    .filter(([name]) => !/^(npm_|AWS_|NODE_OPTIONS$|VITEST|TEST$)/i.test(name))
    .map(([name, value]) => [name, name === 'PATH' ? outside(value ?? '') : value]),
)

function outside(path: string): string {
  return path
    .split(delimiter)
    .filter((dir) => !dir.startsWith(checkout))
    .join(delimiter)
}

const folder = await mkdtemp(join(tmpdir(), 'fencepost-init-'))
const service = join(folder, 'my-relay')
afterAll(() => rm(folder, { recursive: true, force: true }))

async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, output } = await runCommand(command, args, { cwd, env: environment })
  expect(code, `${command} ${args.join(' ')}: ${output}`).toBe(0)
  return output
}

beforeAll(async () => {
  await succeed(join(checkout, 'bin', 'fencepost.mjs'), ['init', 'my-relay'], folder)
}, installingMs)

test('init and npm test: green, right after each other', { timeout: workingMs }, async () => {
  expect(await succeed('npm', ['test'], service)).toMatch(/3 passed/)
})

test('the Serverless CLI packages the service offline, one small zip a function', { timeout: workingMs }, async () => {
  await succeed('npx', ['serverless', 'package', '--stage', 'prod'], service)
  const zips = (await readdir(join(service, '.serverless'))).filter((name) => name.endsWith('.zip'))
  expect(zips.toSorted()).toEqual(['my-relay-status.zip', 'my-relay-sweep.zip', 'my-relay.zip'])
  const template = await readFile(join(service, '.serverless', 'cloudformation-template-update-stack.json'), 'utf8')
  expect(template).toContain('AWS::Lambda::EventSourceMapping')
})

test('the packed command runs without the checkout, and makes the same service again', {
  timeout: workingMs,
}, async () => {
  const packed = JSON.parse(await readFile(join(service, 'package.json'), 'utf8')).dependencies.fencepost
  const args = ['fencepost', 'init', 'again', '--relay', 'my-relay', '--no-install', '--package', packed, '--json']
  const last = (await succeed('npx', args, service)).trim().split('\n').at(-1) ?? ''
  const made: { readonly files: readonly string[] } = JSON.parse(last)
  expect(made.files).toContain('serverless.yml')
  for (const file of made.files) {
    const again = await readFile(join(service, 'again', file), 'utf8')
    const first = await readFile(join(service, file), 'utf8')
    expect(again.replaceAll('again', 'my-relay'), file).toBe(first)
  }
})

test('a folder that holds something is left alone', { timeout: seconds(30) }, async () => {
  const { code, output } = await runCommand('npx', ['fencepost', 'init', '.'], { cwd: service, env: environment })
  expect(code, output).toBe(1)
  expect(output).toMatch(/wanted a new or empty folder/)
})
