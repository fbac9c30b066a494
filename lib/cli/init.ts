import { basename, relative, resolve } from 'node:path'
import { Command } from 'commander'
import { RelayError } from '../errors.ts'
import { nameProblems } from '../init/names.ts'
import { ownPackage, packInto } from '../init/own-package.ts'
import { serviceFiles } from '../init/service-files.ts'
import { makeEmptyFolder, writeService } from '../init/write-service.ts'
import { lastLines, runCommand } from '../local/command.ts'
import { refuseIfAny } from '../problems.ts'
import { jsonOption } from './options.ts'
import type { Terminal } from './terminal.ts'

interface Options {
  readonly relay?: string
  readonly package?: string
  readonly install: boolean
  readonly json?: boolean
}

const help = `
Makes a folder of its own for a relay: package.json, the relay with its test, serverless.yml, tsconfig.json, README. The
folder must be new or empty; nothing is overwritten. Its name becomes that of the package and of the stack.

Exit code: 0 made, and installed unless --no-install; 1 not made, or not installed.

Examples:
  $ npx fencepost init my-relay && cd my-relay && npm test
  $ npx fencepost init shop --relay large-orders
  $ npx fencepost init my-relay --no-install --json | jq -r '.files[]'`

/** `fencepost init <folder>`: a service that depends on the package, so that nobody needs a fork. */
export function initCommand(terminal: Terminal): Command {
  return new Command('init')
    .argument('<folder>', 'new, or empty')
    .option('--relay <name>', 'of the first relay (default: as the folder)')
    .option('--package <version or file>', 'the fencepost to depend on (default: this one)')
    .option('--no-install', 'leave npm install to you')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((folder: string, options: Options) => init(folder, options, terminal))
}

async function init(place: string, options: Options, terminal: Terminal): Promise<void> {
  const folder = resolve(place)
  const service = basename(folder)
  const names = { service, relay: options.relay ?? service }
  refuseIfAny('init', nameProblems(names))
  await makeEmptyFolder(folder)
  const own = await ownPackage()
  const fencepost = options.package ? given(folder, options.package) : await dependency(folder, own, terminal)
  const files = serviceFiles({ ...names, fencepost, tested: own.tested })
  await writeService(folder, files)
  if (options.install) await install(folder, terminal)
  const made = { ok: true, folder, ...names, fencepost, files: [...files.keys()], installed: options.install }
  for (const line of options.json ? [JSON.stringify(made)] : nextSteps(made)) terminal.out(line)
}

/** A packed file is named from here, and must be found from the folder. */
const given = (folder: string, wanted: string): string =>
  wanted.endsWith('.tgz') && !wanted.includes(':') ? `file:${relative(folder, resolve(wanted))}` : wanted

/** npm has published versions; of a checkout it needs a file. */
async function dependency(
  folder: string,
  own: Awaited<ReturnType<typeof ownPackage>>,
  terminal: Terminal,
): Promise<string> {
  if (!own.isCheckout) return own.version
  terminal.err('fencepost: packing this checkout into the folder')
  return `file:${await packInto(folder, own, terminal.interrupted)}`
}

async function install(folder: string, terminal: Terminal): Promise<void> {
  terminal.err('fencepost: installing packages (npm install)')
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const { code, output } = await runCommand('npm', args, { cwd: folder, signal: terminal.interrupted })
  if (code === 0) return
  throw new RelayError(
    'CONFIG_INVALID',
    `${folder} is made, but npm install failed in it (exit code ${code}); mend that and run it again.\n${lastLines(output, 15)}`,
  )
}

function nextSteps(made: { readonly folder: string; readonly relay: string; readonly installed: boolean }) {
  const place = relative(process.cwd(), made.folder) || '.'
  return [
    `${place} is made. Next:`,
    ...(place === '.' ? [] : [`  cd ${place}`]),
    ...(made.installed ? [] : ['  npm install']),
    '  npm test                  types and tests, no broker needed',
    '  npm run dev               the relay as a function on this machine, with a real Kafka (Java 17, Maven)',
    '  npx serverless package    what would be deployed, without an account',
    `Then edit relays/${made.relay}.ts, and serverless.yml for where your Kafka is.`,
  ]
}
