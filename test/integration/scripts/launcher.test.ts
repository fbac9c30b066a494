import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../../../lib/local/command.ts'

const launcher = join(import.meta.dirname, '..', '..', '..', 'bin', 'fencepost.mjs')
const echo = (name: string) => `console.log('${name}', ...process.argv.slice(2)); process.exitCode = 7`

/** A package with these files around the launcher. Answers how to start it. */
async function packageWith(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), 'fencepost-launcher-'))
  onTestFinished(() => rm(root, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content, { mode: 0o755 })
  }
  const bin = join(root, 'bin', 'fencepost.mjs')
  await mkdir(dirname(bin), { recursive: true })
  await copyFile(launcher, bin)
  return (...node: readonly string[]) => runCommand(process.execPath, [...node, bin, 'verify', '--json'])
}

/** What the launcher sees when it is started with a Node from long ago. */
const oldNode = [
  '--import',
  `data:text/javascript,${encodeURIComponent("Object.defineProperty(process.versions, 'node', { value: '18.1.0' })")}`,
]

test('a package runs its JavaScript, with all arguments and its exit code', async () => {
  const run = await packageWith({ 'dist/lib/cli/main.js': echo('built') })
  expect(await run()).toMatchObject({ code: 7, output: 'built verify --json\n' })
})

test('a checkout runs its sources, also when something was built before', async () => {
  const run = await packageWith({ 'dist/lib/cli/main.js': echo('built'), 'lib/cli/main.ts': echo('sources') })
  expect((await run()).output).toBe('sources verify --json\n')
})

test('with neither it says so', async () => {
  const { code, output } = await (await packageWith({}))()
  expect(code).toBe(1)
  expect(output).toMatch(/neither lib\/cli\/main\.ts nor dist\/lib\/cli\/main\.js is there/)
})

test('without its packages it says how to install them', async () => {
  const run = await packageWith({ 'dist/lib/cli/main.js': "import 'no-such-package'" })
  expect(await run()).toMatchObject({ code: 1, output: expect.stringMatching(/no-such-package.*npm install/) })
})

test('a Node that is too old hands over to the one that npm has brought', async () => {
  const run = await packageWith({
    'dist/lib/cli/main.js': echo('built'),
    'node_modules/.bin/node': `#!/bin/sh\necho brought\nexec "${process.execPath}" "$@"\n`,
  })
  expect(await run(...oldNode)).toMatchObject({ code: 7, output: 'brought\nbuilt verify --json\n' })
})

test('a Node that is too old and alone says which one is wanted', async () => {
  const run = await packageWith({ 'dist/lib/cli/main.js': echo('built') })
  expect(await run(...oldNode)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/Node 18\.1\.0 found, wanted 24/),
  })
})
