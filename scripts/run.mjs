/**
 * Where `npm start`, `npm test`, `npm run bench`, `npm run chaos`, `npm run sim`, `npm run crash-matrix` and `npm run fencepost` land on any machine with Node 18 or later: installs
 * what is missing and hands over to Lambda's Node. Plain JavaScript without packages, because neither is there yet.
 * All it says goes to stderr; stdout belongs to the program.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const bin = join(root, 'node_modules', '.bin')
const nodeMajorMin = 24

const entries = {
  demo: ['lib/cli/main.ts', 'demo'],
  cli: ['lib/cli/main.ts'],
  bench: ['bench/main.ts'],
  chaos: ['test/chaos/main.ts'],
  sim: ['test/sim/main.ts'],
  deploy: ['test/deploy/main.ts'],
  'crash-matrix': ['test/sim/crash-matrix/main.ts'],
  acl: ['test/acl/main.ts'],
  init: ['node_modules/vitest/vitest.mjs', 'run', '--project', 'init'],
  test: ['scripts/test.ts'],
}

const [task = '', ...args] = process.argv.slice(2)
const entry = entries[task]
if (!entry) fail(`Unknown task "${task}"; give one of ${Object.keys(entries).join(', ')}.`)

await installPackages()
const node = findNode()
const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }
await succeed(node, ['scripts/setup.ts', task, ...args], { env, stdio: ['ignore', 2, 'inherit'] })
process.exit(await run(node, [...entry, ...args], { env, stdio: 'inherit' }))

function fail(message) {
  console.error(`fencepost: ${message}`)
  process.exit(1)
}

/** npm writes its own lock file into node_modules last of all: what it lists is installed, whole. */
async function installPackages() {
  if (isInstalled()) return
  const startedAt = Date.now()
  console.error('fencepost: installing packages (npm ci)')
  const path = process.env.PATH.split(delimiter).filter((dir) => dir !== bin)
  await succeed('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ['ignore', 2, 'inherit'],
  })
  console.error(`fencepost: packages installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
}

function isInstalled() {
  const installed = packagesIn('node_modules/.package-lock.json')
  return Object.entries(packagesIn('package-lock.json')).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true
    const found = installed[path]
    return found ? found.version === version && found.integrity === integrity : optional === true
  })
}

function packagesIn(file) {
  const path = join(root, file)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {}
}

/** The Node that an npm package brings; on other platforms the one that runs this, if it is recent enough. */
function findNode() {
  const brought = join(bin, 'node')
  if (existsSync(brought)) return brought
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) return process.execPath
  return fail(
    `Node ${process.versions.node} found and no packaged one for ${process.platform}-${process.arch}; ` +
      `Fencepost needs Node ${nodeMajorMin} or later. Install it from https://nodejs.org.`,
  )
}

async function succeed(command, commandArgs, options) {
  const code = await run(command, commandArgs, options)
  if (code !== 0) process.exit(code)
}

/**
 * Runs to the end, passing signals on. Answers the exit code as a shell does. npm starts us through a shell that dies of
 * a signal without telling us: when it is gone, that is a SIGTERM.
 */
function run(command, commandArgs, options) {
  return new Promise((resolve) => {
    const child = spawn(command, commandArgs, { cwd: root, ...options })
    const forward = (signal) => child.kill(signal)
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.on(signal, forward)
    const shell = process.ppid
    const watch = setInterval(() => {
      if (process.env.npm_lifecycle_event && process.ppid !== shell) forward('SIGTERM')
    }, 250)
    child.once('error', (error) => fail(`Cannot run ${command}: ${error.message}.`))
    child.once('close', (code, signal) => {
      clearInterval(watch)
      for (const name of signals) process.off(name, forward)
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}
