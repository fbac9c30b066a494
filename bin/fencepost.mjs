#!/usr/bin/env node
/**
 * `fencepost` on the command line: a checkout runs its sources, a package the JavaScript in dist/ (Node strips types from no
 * file in node_modules). Plain JavaScript, because the Node that reads it may be too old: then the one that an npm package
 * has brought takes over.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const nodeMajorMin = 24
const here = dirname(fileURLToPath(import.meta.url))
const main = [join(here, '../lib/cli/main.ts'), join(here, '../dist/lib/cli/main.js')].find((file) => existsSync(file))

if (main === undefined) fail('neither lib/cli/main.ts nor dist/lib/cli/main.js is there. Install the package again.')
if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) {
  await import(main).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    fail(`${error.message}. Install the packages: npm install.`)
  })
} else {
  handOver(
    broughtNode() ?? fail(`Node ${process.versions.node} found, wanted ${nodeMajorMin} or later: https://nodejs.org`),
  )
}

function fail(message) {
  console.error(`fencepost: ${message}`)
  process.exit(1)
}

function broughtNode(dir = here) {
  const node = join(dir, 'node_modules', '.bin', 'node')
  if (existsSync(node)) return node
  return dirname(dir) === dir ? undefined : broughtNode(dirname(dir))
}

/** What it starts in turn, as npm, finds the same Node. */
function handOver(node) {
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) }
  const child = spawn(node, [main, ...process.argv.slice(2)], { env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('close', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
