import { Command } from 'commander'
import { isRelayError } from '../errors.ts'
import { resumeLane } from '../relay/operator/resume-lane.ts'
import {
  askDeadline,
  type DeploymentOptions,
  deploymentOptions,
  environmentHelp,
  withDeployment,
} from './deployment.ts'
import { type LaneSelection, lanesOption, selectLanes } from './lanes-option.ts'
import { jsonOption } from './options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends DeploymentOptions, LaneSelection {
  readonly json?: boolean
}

interface ResumedLane {
  readonly lane: string
  readonly was: 'stopped' | 'not stopped' | 'not resumed'
  /** Of the stop, or why it could not be ended. */
  readonly code?: string
  readonly message?: string
}

const help = `
A lane that was stopped goes on from where it is, at its next bell or sweep, or with fencepost drain.
Mend first what stopped it (fencepost status tells): otherwise it stops again.
${environmentHelp}

Examples:
  $ fencepost resume --relay relays/delays.ts               every lane that is stopped
  $ fencepost resume --relay relays/delays.ts --lanes 3,4   these only`

/** `fencepost resume`: lets stopped lanes go on. */
export function resumeCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('resume'))
    .addOption(lanesOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => resume(options, terminal))
}

async function resume(options: Options, terminal: Terminal): Promise<void> {
  const lanes = await withDeployment(options, terminal, async (deployment) => {
    const { lanes } = await selectLanes(deployment, options, askDeadline())
    return Promise.all(
      lanes.map(async (id): Promise<ResumedLane> => {
        const lane = id.transactionalId
        try {
          const stop = await resumeLane(deployment, id, askDeadline())
          return stop ? { lane, was: 'stopped', code: stop.code, message: stop.message } : { lane, was: 'not stopped' }
        } catch (error) {
          if (!isRelayError(error)) throw error
          return { lane, was: 'not resumed', code: error.code, message: error.message }
        }
      }),
    )
  })
  const ok = lanes.every(({ was }) => was !== 'not resumed')
  for (const line of options.json ? [JSON.stringify({ ok, lanes })] : linesOf(lanes)) terminal.out(line)
  if (!ok) throw new CommandFailed()
}

function linesOf(lanes: readonly ResumedLane[]): readonly string[] {
  const told = lanes.filter(({ was }) => was !== 'not stopped')
  if (told.length === 0) return ['No lane is stopped.']
  return told.map(({ lane, was, code, message }) =>
    was === 'stopped' ? `✓ ${lane} goes on; it was stopped by ${code}` : `✗ ${lane}: ${message}`,
  )
}
