import { Command } from 'commander'
import { deadlineIn, systemClock } from '../clock.ts'
import { isRelayError } from '../errors.ts'
import { type LaneRollback, planRollback, type RollbackPlan, rollBackLane } from '../relay/operator/rollback.ts'
import type { RelayDeployment } from '../relay/runtime.ts'
import { seconds } from '../units.ts'
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
import { duration, jsonOption, wholeNumber } from './options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends DeploymentOptions, LaneSelection {
  readonly withdraw?: number
  readonly to?: number
  readonly waitFor: number
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

interface LaneOutcome {
  readonly lane: string
  readonly generation: number
  readonly state: 'planned' | 'withdrawn' | 'withdrawn before' | 'not withdrawn'
  readonly code?: string
  readonly message?: string
}

const help = `
After serverless rollback the older code runs again, but its containers stand down: the lanes belong to the newer
deployment, for 15 minutes after it took them. This withdraws the newer deployment at once. Whatever still runs
of it stands down for good; the next deployment, with a higher generation, is welcome again. Nothing that was
committed is undone, nothing is relayed twice. A function that works on a lane is waited for. May be repeated.
Look at --dry-run first: a deployment that failed before it had any lane needs no rollback, and is not the newest
that has had one. A deployment that is named by --to is welcome again, also if it was withdrawn before.
${environmentHelp}

Examples:
  $ fencepost rollback --relay relays/delays.ts --dry-run          which deployment would be withdrawn
  $ fencepost rollback --relay relays/delays.ts --yes              after serverless rollback, in a script
  $ fencepost rollback --relay relays/delays.ts --withdraw 1795981230 --to 1795900000    and all between them`

const generation = wholeNumber(0, Number.MAX_SAFE_INTEGER)

/** `fencepost rollback`: lets an older deployment have the lanes again, at once (R14). */
export function rollbackCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('rollback'))
    .option(
      '--withdraw <generation>',
      'the deployment to withdraw (default: the newest that has had a lane)',
      generation,
    )
    .option('--to <generation>', 'the deployment to go back to; those between are withdrawn too', generation)
    .option('--wait-for <duration>', 'functions that work on a lane', duration('1s', '15m'), seconds(60))
    .addOption(lanesOption())
    .option('--dry-run', 'show what would be withdrawn, change nothing')
    .option('--yes', 'do it without asking')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => rollback(options, terminal))
}

async function rollback(options: Options, terminal: Terminal): Promise<void> {
  const { json, dryRun = false, yes = false, withdraw = null, to = null } = options
  const done = await withDeployment(options, terminal, async (deployment) => {
    const { lanes } = await selectLanes(deployment, options, askDeadline())
    const plan = await planRollback(deployment, { lanes, withdraw, to }, askDeadline())
    const open = plan.lanes.filter(({ isDone }) => !isDone)
    const relay = deployment.relay.name
    if (dryRun || open.length === 0) return { relay, plan, outcomes: plan.lanes.map(planned) }
    const what = `generation ${plan.withdraw} is withdrawn from ${plural(open.length, 'lane')}`
    await confirm(what, relay, yes, terminal)
    return {
      relay,
      plan,
      outcomes: await Promise.all(plan.lanes.map((lane) => carryOut(deployment, plan, lane, options.waitFor))),
    }
  })
  const ok = done.outcomes.every(({ state }) => state !== 'not withdrawn')
  const { relay, plan } = done
  const { withdraw: withdrawn, above } = plan
  if (json) terminal.out(JSON.stringify({ ok, dryRun, relay, withdraw: withdrawn, above, lanes: done.outcomes }))
  else for (const line of linesOf(done.plan, done.outcomes)) terminal.out(line)
  if (!ok) throw new CommandFailed()
}

const planned = ({ id, generation, isDone }: LaneRollback): LaneOutcome => ({
  lane: id.transactionalId,
  generation,
  state: isDone ? 'withdrawn before' : 'planned',
})

async function carryOut(
  deployment: RelayDeployment,
  plan: RollbackPlan,
  lane: LaneRollback,
  waitMs: number,
): Promise<LaneOutcome> {
  if (lane.isDone) return planned(lane)
  try {
    await rollBackLane(deployment, lane, plan, deadlineIn(systemClock, waitMs))
    return { ...planned(lane), state: 'withdrawn' }
  } catch (error) {
    if (!isRelayError(error)) throw error
    return { ...planned(lane), state: 'not withdrawn', code: error.code, message: error.message }
  }
}

const signs = { planned: '·', withdrawn: '✓', 'withdrawn before': '✓', 'not withdrawn': '✗' } as const

const linesOf = ({ withdraw }: RollbackPlan, outcomes: readonly LaneOutcome[]): readonly string[] =>
  outcomes.map(({ lane, generation, state, message }) => {
    const was = state === 'withdrawn before' ? '' : `, was of generation ${generation}`
    return `${signs[state]} ${lane}: generation ${withdraw} ${stateText[state]}${was}${message ? `: ${message}` : ''}`
  })

const stateText = {
  planned: 'would be withdrawn',
  withdrawn: 'is withdrawn',
  'withdrawn before': 'is withdrawn already',
  'not withdrawn': 'is not withdrawn',
} as const
