import { Command } from 'commander'
import { type LettersWaiting, lettersWaiting } from '../relay/redrive/letters-waiting.ts'
import { type LeftLetter, redriveRuntime } from '../relay/redrive/redrive.ts'
import { figure, plural } from '../verify/finding.ts'
import { confirm } from './confirm.ts'
import {
  askDeadline,
  type DeploymentOptions,
  deploymentOptions,
  environmentHelp,
  untilInterrupted,
  withDeployment,
} from './deployment.ts'
import { type Drained, drainTelling, unfinishedLines } from './draining.ts'
import { jsonOption } from './options.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends DeploymentOptions {
  readonly to?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

const help = `
Each letter is sent once: its record and the progress in the dead letter topic are committed in one transaction,
under a transactional id of its own, so that it may be killed and run again. Key, value and headers are those of
the source record; letters that had to be cut are read from the source again. Letters stay in their topic.
Deploy the relay that can take them first: those that fail again become new dead letters, for the next time.
Exit code: 0 all was sent, 1 a letter could not be.
${environmentHelp}

Examples:
  $ fencepost redrive --relay relays/delays.ts --dry-run          how many wait, by error code
  $ fencepost redrive --relay relays/delays.ts                    back to the source
  $ fencepost redrive --relay relays/delays.ts --to repairs --yes to another topic`

/** `fencepost redrive`: sends dead letters back, exactly once. */
export function redriveCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('redrive'))
    .option('--to <topic>', "where to (default: the relay's source)")
    .option('--dry-run', 'count the letters that wait, send nothing')
    .option('--yes', 'do it without asking')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => redrive(options, terminal))
}

interface Redriven extends Drained {
  readonly left: readonly LeftLetter[]
}

async function redrive(options: Options, terminal: Terminal): Promise<void> {
  const { json = false, dryRun = false, yes = false, to = null } = options
  const done = await withDeployment(options, terminal, async (deployment) => {
    const left = new Map<string, LeftLetter>()
    const onLeft = (letter: LeftLetter) => void left.set(`${letter.partition}@${letter.offset}`, letter)
    const runtime = await redriveRuntime(deployment, { to, onLeft }, askDeadline())
    const waiting = await untilInterrupted(terminal, lettersWaiting(runtime, deployment.relay.name))
    for (const line of waitingLines(waiting, to ?? deployment.relay.sourceTopic))
      (json ? terminal.err : terminal.out)(line)
    if (dryRun) return { waiting, drained: null }
    await confirm(`This sends ${plural(waiting.letters, 'letter')} back`, deployment.relay.name, yes, terminal)
    const drained: Redriven = { ...(await drainTelling(runtime, terminal)), left: [...left.values()] }
    return { waiting, drained }
  })
  const ok = done.drained === null || (done.drained.ok && done.drained.left.length === 0)
  if (json) terminal.out(JSON.stringify(jsonOf(done.waiting, done.drained, ok)))
  else if (done.drained) for (const line of drainedLines(done.drained)) terminal.out(line)
  if (terminal.interrupted.aborted) throw terminal.interrupted.reason
  if (!ok) throw new CommandFailed()
}

const waitingLines = ({ letters, byCode }: LettersWaiting, to: string): readonly string[] => [
  `${plural(letters, 'dead letter')} to send to '${to}'`,
  ...[...byCode].map(([code, count]) => `  ${code.padEnd(24)} ${figure(count).padStart(10)}`),
]

const drainedLines = ({ counts, lanes, left }: Redriven): readonly string[] => [
  ...left.map(({ partition, offset, why }) => `✗ the letter at partition ${partition}, offset ${offset} stays: ${why}`),
  ...unfinishedLines(lanes),
  `Sent back: ${plural(counts.outputs, 'record')}.`,
]

const jsonOf = ({ letters, byCode }: LettersWaiting, drained: Redriven | null, ok: boolean) => ({
  ok,
  dryRun: drained === null,
  waiting: letters,
  byCode: Object.fromEntries(byCode),
  ...(drained && {
    sent: drained.counts.outputs,
    left: drained.left.map(({ partition, offset, why }) => ({ partition, offset: offset.toString(), why })),
    lanes: drained.lanes,
  }),
})
