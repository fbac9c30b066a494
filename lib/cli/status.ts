import { Command } from 'commander'
import { relayStatus } from '../relay/operator/status.ts'
import {
  askDeadline,
  type DeploymentOptions,
  deploymentOptions,
  environmentHelp,
  untilInterrupted,
  withDeployment,
} from './deployment.ts'
import { jsonOption } from './options.ts'
import { statusLines } from './status-text.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends DeploymentOptions {
  readonly json?: boolean
}

const help = `
Exit code: 0 no lane is stopped, 1 one is, or nothing can be told.
${environmentHelp}
Only reads, and may run beside the relay.

Examples:
  $ fencepost status --relay relays/delays.ts --prefix shop-prod --brokers localhost:9092
  $ fencepost status --relay relays/delays.ts --json | jq '.lanes[] | select(.state == "stopped")'`

/** `fencepost status`: position, lag, owner, fence and open transaction of every lane. */
export function statusCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('status'))
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => status(options, terminal))
}

async function status(options: Options, terminal: Terminal): Promise<void> {
  const found = await withDeployment(options, terminal, (deployment) =>
    untilInterrupted(terminal, relayStatus(deployment, askDeadline())),
  )
  for (const line of options.json ? [JSON.stringify(found)] : statusLines(found, terminal)) terminal.out(line)
  if (!found.ok) throw new CommandFailed()
}
