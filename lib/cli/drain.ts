import { Command } from 'commander'
import { environmentSecrets } from '../relay/config/secrets.ts'
import { runtimeOf } from '../relay/connect-deployment.ts'
import {
  askDeadline,
  type DeploymentOptions,
  deploymentOptions,
  environmentHelp,
  withDeployment,
} from './deployment.ts'
import { countsText, type Drained, drainTelling, unfinishedLines } from './draining.ts'
import { jsonOption } from './options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends DeploymentOptions {
  readonly json?: boolean
}

const help = `
Runs the relay here, exactly once as everywhere, until every lane has come to the end of the log as it was at
the start. Lanes that a function holds are left to it and waited for. Ctrl-C ends it between two windows.
Exit code: 0 all is drained, 1 a lane is stopped or fails.
${environmentHelp}
Secrets of setup are read from FENCEPOST_SECRET_<NAME>.

Examples:
  $ fencepost drain --relay relays/delays.ts --prefix shop-prod --brokers localhost:9092
  $ fencepost drain --relay relays/delays.ts --json      before a migration, in a script`

/** `fencepost drain`: relays everything that is there, and says when it is done. */
export function drainCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('drain'))
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => drain(options, terminal))
}

async function drain(options: Options, terminal: Terminal): Promise<void> {
  const drained = await withDeployment(options, terminal, async (deployment) => {
    const { relay, clock, registry = null } = deployment
    const secret = environmentSecrets(process.env)
    const running = await relay.start({ secret, registry, deadline: askDeadline(), clock })
    return drainTelling(runtimeOf(deployment, running), terminal)
  })
  for (const line of options.json ? [JSON.stringify(drained)] : linesOf(drained)) terminal.out(line)
  if (terminal.interrupted.aborted) throw terminal.interrupted.reason
  if (!drained.ok) throw new CommandFailed()
}

const linesOf = ({ ok, lanes, counts }: Drained): readonly string[] => [
  ...unfinishedLines(lanes),
  `${ok ? 'Drained' : 'Not drained'}: ${countsText(counts)}.`,
]
