/** `npm run test:deploy`: deploys relays without an account, and proves what was deployed. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { dirOption, jsonOption } from '../../lib/cli/options.ts'
import { runProgram } from '../../lib/cli/run-program.ts'
import { CommandFailed, processTerminal, type Terminal } from '../../lib/cli/terminal.ts'
import { minutes } from '../../lib/units.ts'
import { runDeployTest } from './deploy-test.ts'

const examples = `
Examples:
  $ npm run test:deploy                  package, lint, deploy to moto, update, remove; then run the zip on a real broker
  $ npm run test:deploy -- --json        the result as one line of JSON, the last of stdout

Python 3 with its venv module is needed, and installed by apt-get for root on Debian and Ubuntu. Exit code 0 only if
everything held.`

const atMostMs = minutes(25)

async function deployTest(
  options: { readonly dir: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const dir = join(options.dir, 'deploy-test')
  await mkdir(dir, { recursive: true })
  const signal = AbortSignal.any([terminal.interrupted, AbortSignal.timeout(atMostMs)])
  const { result, ok, faults } = await runDeployTest({ dir, signal, say: (line) => terminal.err(`fencepost: ${line}`) })
  for (const fault of faults) terminal.err(`✗ ${fault}`)
  if (!options.json)
    for (const [name, value] of Object.entries(result)) terminal.out(`${name}: ${JSON.stringify(value)}`)
  if (options.json) terminal.out(JSON.stringify(result))
  if (!ok) throw new CommandFailed()
}

const command = (terminal: Terminal): Command =>
  new Command('test:deploy')
    .addOption(dirOption())
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options) => deployTest(options, terminal))

const program = new Command('npm run').description('Deploys relays without an account, and proves what was deployed')
process.exitCode = await runProgram(program, [command], ['test:deploy', ...process.argv.slice(2)], processTerminal())
