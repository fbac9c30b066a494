import { Command, InvalidArgumentError } from 'commander'
import { type Deadline, systemClock } from '../clock.ts'
import {
  type Ended,
  endHanging,
  type FoundTransaction,
  findOpenTransactions,
  type HangingQuestion,
  verdictText,
} from '../relay/operator/hanging-transactions.ts'
import type { RelayDeployment } from '../relay/runtime.ts'
import { longestTimeoutMs } from '../transaction/describe.ts'
import {
  askDeadline,
  type DeploymentOptions,
  deploymentOptions,
  environmentHelp,
  untilInterrupted,
  withDeployment,
} from './deployment.ts'
import { duration, jsonOption } from './options.ts'
import { fromNow, offsetFigure } from './table.ts'
import { CommandFailed, type Terminal } from './terminal.ts'

interface Options extends DeploymentOptions {
  readonly topic?: readonly string[]
  readonly olderThan?: number
  readonly yes?: boolean
  readonly json?: boolean
}

const help = `
A transaction hangs when readers of a partition wait for it and no coordinator will ever end it. Changes nothing
without --yes; with it, an abort marker ends each that hangs, and its records stay invisible for ever.
Transactions that a coordinator knows are never touched: a marker would cost records that are then reported as
committed. Those of this relay are ended by its next bell or sweep.
Needs Alter on the cluster for --yes, and Describe on ALL transactional ids: those hidden from this user look unknown.
Exit code: 0 nothing hangs any more, 1 something does, or it cannot be told.
${environmentHelp}

Examples:
  $ fencepost abort-hanging --relay relays/delays.ts                         what is open, and what hangs
  $ fencepost abort-hanging --relay relays/delays.ts --yes                   end what hangs
  $ fencepost abort-hanging --relay relays/delays.ts --topic __consumer_offsets --json`

/** `fencepost abort-hanging`: finds transactions that never end, and ends them. */
export function abortHangingCommand(terminal: Terminal): Command {
  return deploymentOptions(new Command('abort-hanging'))
    .option('--topic <name,...>', 'where to look (default: source, outputs and dead letters of the relay)', parseTopics)
    .option(
      '--older-than <duration>',
      "not written to for so long (default: the broker's longest transaction timeout)",
      duration('0s', '30d'),
    )
    .option('--yes', 'end what hangs')
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => abortHanging(options, terminal))
}

interface Outcome {
  readonly found: FoundTransaction
  /** null: it was left alone. */
  readonly ended: Ended | null
}

async function abortHanging(options: Options, terminal: Terminal): Promise<void> {
  const { yes = false, json } = options
  const outcomes = await withDeployment(options, terminal, async (deployment) => {
    const question = await questionOf(deployment, options, askDeadline())
    const found = await untilInterrupted(terminal, findOpenTransactions(deployment, question, askDeadline()))
    return endAll(deployment, found, { yes, olderThanMs: question.olderThanMs }, terminal)
  })
  const ok = outcomes.every(({ found, ended }) => found.verdict.kind !== 'hanging' || ended?.kind === 'ended')
  if (json) terminal.out(JSON.stringify({ ok, dryRun: !yes, transactions: outcomes.map(outcomeJson) }))
  else for (const line of linesOf(outcomes, yes, systemClock.now())) terminal.out(line)
  if (!ok) throw new CommandFailed()
}

async function questionOf(
  { relay, cluster }: RelayDeployment,
  { topic, olderThan }: Options,
  deadline: Deadline,
): Promise<HangingQuestion> {
  const topics = topic ?? [relay.sourceTopic, ...relay.outputTopics]
  return { topics: [...new Set(topics)], olderThanMs: olderThan ?? (await longestTimeoutMs(cluster, deadline)) }
}

/** One after the other, so that an interruption leaves the rest alone. */
async function endAll(
  deployment: RelayDeployment,
  all: readonly FoundTransaction[],
  { yes, olderThanMs }: { readonly yes: boolean; readonly olderThanMs: number },
  { interrupted }: Terminal,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const found of all) {
    const isMeant = yes && found.verdict.kind === 'hanging' && !interrupted.aborted
    outcomes.push({ found, ended: isMeant ? await endHanging(deployment, found, olderThanMs, askDeadline()) : null })
  }
  return outcomes
}

const outcomeJson = ({ found, ended }: Outcome) => {
  const { open, verdict, ours } = found
  return {
    topic: open.topic,
    partition: open.partition,
    startOffset: open.startOffset.toString(),
    producerId: open.producerId.toString(),
    producerEpoch: open.producerEpoch,
    lastTimestampMs: open.lastTimestampMs,
    verdict: verdict.kind,
    ours,
    transactionalId: verdict.known?.transactionalId ?? null,
    ended: ended?.kind === 'ended',
    ...(ended?.kind === 'not ended' && { code: ended.error.code, message: ended.error.message }),
  }
}

function linesOf(outcomes: readonly Outcome[], yes: boolean, nowMs: number): readonly string[] {
  if (outcomes.length === 0) return ['No transaction is open.']
  const hanging = outcomes.filter(({ found }) => found.verdict.kind === 'hanging').length
  const advice = hanging > 0 && !yes ? [`${hanging} of them would be ended by --yes; nothing was changed.`] : []
  return [...outcomes.map((outcome) => lineOf(outcome, nowMs)), ...advice]
}

function lineOf({ found, ended }: Outcome, nowMs: number): string {
  const { topic, partition, startOffset, producerId, producerEpoch, lastTimestampMs } = found.open
  const what = `${topic}-${partition} from ${offsetFigure(startOffset)}, producer ${producerId} epoch ${producerEpoch}`
  const where = `${what}, last record ${fromNow(lastTimestampMs, nowMs)}`
  if (ended?.kind === 'ended') return `✓ ${where}: ended`
  if (ended?.kind === 'not ended') return `✗ ${where}: ${ended.error.message}`
  return `${found.verdict.kind === 'hanging' ? '✗' : '·'} ${where}: ${verdictText(found)}`
}

function parseTopics(text: string): readonly string[] {
  const topics = text.split(',').map((topic) => topic.trim())
  if (topics.every((topic) => /^[\w.-]{1,249}$/.test(topic))) return topics
  throw new InvalidArgumentError(`"${text}" is not a list of topic names.`)
}
