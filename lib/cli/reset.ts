import { Command } from 'commander'
import { isRelayError } from '../errors.ts'
import { type LaneReset, planReset } from '../relay/operator/plan-reset.ts'
import { resetLane } from '../relay/operator/reset-lane.ts'
import type { RelayTopics } from '../relay/relay-topics.ts'
import type { RelayDeployment } from '../relay/runtime.ts'
import { plural } from '../verify/finding.ts'
import { confirm } from './confirm.ts'
import {
  askDeadline,
  type DeploymentOptions,
  deploymentOptions,
  environmentHelp,
  withDeployment,
} from './deployment.ts'
import { type LaneSelection, lanesOption, selectLanes } from './lanes-option.ts'
import { jsonOption } from './options.ts'
import { parsePlace, placeFor, type TypedPlace } from './reset-place.ts'
import { type LaneOutcome, outcomeLines, planLines, resetJson } from './reset-text.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends DeploymentOptions, LaneSelection {
  readonly to: TypedPlace
  readonly acceptNewSource?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

const help = `
Going back relays records once more, going forward leaves records out: this is the one command that gives up
the promise, so look at --dry-run first. It is refused while a function holds the lane: disable its trigger.
A stopped lane goes on from there. Ctrl-C and crashes do no harm: what was decided is finished by the next bell,
and what was not decided has not happened.
${environmentHelp}

Examples:
  $ fencepost reset --relay relays/delays.ts --to earliest --dry-run       what would happen
  $ fencepost reset --relay relays/delays.ts --lanes 3 --to 1200           lane 3, to an offset
  $ fencepost reset --relay relays/delays.ts --to 0:1200,1:88              all lanes, by partition
  $ fencepost reset --relay relays/delays.ts --to 2026-08-01T06:00Z --yes  the first records at or after a time
  $ fencepost reset --relay relays/delays.ts --to earliest --accept-new-source    the topic was made anew`

/** `fencepost reset`: moves lanes to another place in the source (R16). */
export function resetCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('reset'))
    .requiredOption('--to <place>', 'earliest, latest, an offset, offsets by partition, or a time', parsePlace)
    .addOption(lanesOption())
    .option('--accept-new-source', 'the source is another topic or cluster than the one relayed so far')
    .option('--dry-run', 'show what would be skipped or repeated, change nothing')
    .option('--yes', 'do it without asking')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => reset(options, terminal))
}

async function reset(options: Options, terminal: Terminal): Promise<void> {
  const { json = false, dryRun = false, yes = false, acceptNewSource = false } = options
  const outcomes = await withDeployment(options, terminal, async (deployment) => {
    const { topics, lanes } = await selectLanes(deployment, options, askDeadline())
    const question = { lanes, place: placeFor(lanes, options.to), acceptNewSource }
    const plan = await planReset(deployment, topics, question, askDeadline())
    for (const line of planLines(plan)) (json ? terminal.err : terminal.out)(line)
    if (dryRun) return plan.map((lane): LaneOutcome => ({ lane, state: 'planned' }))
    const what = `This resets ${plural(lanes.length, 'lane')} of relay '${deployment.relay.name}'`
    await confirm(what, deployment.relay.name, yes, terminal)
    return resetAll(deployment, topics, plan, terminal)
  })
  const ok = outcomes.every(({ state }) => state === 'reset' || state === 'planned')
  if (json) terminal.out(JSON.stringify(resetJson(outcomes, { ok, dryRun })))
  else for (const line of outcomeLines(outcomes)) terminal.out(line)
  if (!ok) throw new CommandFailed()
}

/** One lane after the other; one that is refused does not hold up the others. */
async function resetAll(
  deployment: RelayDeployment,
  topics: RelayTopics,
  plan: readonly LaneReset[],
  { interrupted }: Terminal,
): Promise<readonly LaneOutcome[]> {
  const outcomes: LaneOutcome[] = []
  for (const lane of plan) {
    if (interrupted.aborted) throw interrupted.reason
    try {
      await resetLane(deployment, topics, lane, askDeadline())
      outcomes.push({ lane, state: 'reset' })
    } catch (error) {
      if (!isRelayError(error)) throw error
      outcomes.push({ lane, state: error.outcome === 'unknown' ? 'unknown' : 'not reset', error })
    }
  }
  return outcomes
}
