import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { type DemoOutcome, runDemo } from '../local/demo/demo.ts'
import { flightsMax } from '../local/demo/flights.ts'
import type { KafkaVersion } from '../local/kafka-jars.ts'
import { demoScreen, figure } from './demo-screen.ts'
import { dirOption, jsonOption, kafkaOption } from './options.ts'
import { bold, CommandFailed, type Terminal } from './terminal.ts'

interface Options {
  readonly kafka: KafkaVersion
  readonly records: number
  readonly seconds?: number
  readonly kills: number
  readonly dir: string
  readonly json?: boolean
}

const recordsDefault = 300_000
const killsPerMinuteDefault = 60
const killsPerMinuteMax = 600
const arrivalSecondsLeast = 20
/** As fast as two cores can feed, relay and count at once. */
const arrivalsPerSecondMax = 30_000

const examples = `
Examples:
  $ fencepost demo                               300,000 flights, a function killed about every second
  $ fencepost demo --kafka 3.9                   on the older transaction protocol
  $ fencepost demo --records 3000000             all flights
  $ fencepost demo --kills off --json            undisturbed; the result as one line of JSON`

/** `fencepost demo`: everything on this machine, functions killed, and a proof. Exit code 0 only if proven. */
export function demoCommand(terminal: Terminal): Command {
  return new Command('demo')
    .description('relay real flights through functions that are killed at work, and prove that none is lost or doubled')
    .addOption(kafkaOption())
    .option('--records <count>', `flights to relay, up to ${figure(flightsMax)}`, parseRecords, recordsDefault)
    .option('--seconds <count>', 'how long they take to arrive (default: 20, longer above 600,000)', parseSeconds)
    .option('--kills <per minute>', "functions killed per minute, or 'off'", parseKills, killsPerMinuteDefault)
    .addOption(dirOption())
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options: Options) => demo(options, terminal))
}

async function demo(options: Options, terminal: Terminal): Promise<void> {
  const { kafka, records, kills, json = false } = options
  const seconds = options.seconds ?? Math.max(arrivalSecondsLeast, Math.ceil(records / arrivalsPerSecondMax))
  const screen = demoScreen(terminal, json)
  for (const line of introduction(records, seconds, kills)) terminal.err(line)
  const outcome = await runDemo({
    dir: join(options.dir, 'demo'),
    kafka,
    records,
    arrivalMs: seconds * 1_000,
    killsPerMinute: kills,
    signal: terminal.interrupted,
    say: screen.say,
    progress: screen.progress,
  })
  const tell = json ? terminal.err : terminal.out
  for (const line of conclusion(outcome, terminal)) tell(line)
  if (json) terminal.out(JSON.stringify(outcome.result))
  if (!outcome.result.ok) throw new CommandFailed()
}

const introduction = (records: number, seconds: number, kills: number): readonly string[] => [
  `${figure(records)} flights arrive in a Kafka topic within ${seconds} s. Functions relay late ones to flights.late, the others to`,
  `flights.on-time, and malformed ones to flights.dead. ${kills === 0 ? 'No function is killed this time.' : `Meanwhile ${figure(kills)} of them a minute are killed at work.`}`,
  'Then everything is read back from the log, to prove that each flight took effect exactly once and in order.',
]

function conclusion({ result, report, counts, last, logDir }: DemoOutcome, terminal: Terminal): readonly string[] {
  const width = Math.max(...counts.map(({ topic }) => topic.length))
  const columns = counts.map(
    ({ topic, wanted, found }) =>
      `  ${topic.padEnd(width)}  ${figure(wanted).padStart(10)}  ${figure(found).padStart(10)}`,
  )
  const findings = report.findings.map(({ status, detail }) => `  ${status === 'violated' ? '✗' : '✓'} ${detail}`)
  const phantom = last.seenUncommitted - last.seenCommitted
  return [
    '',
    `  ${''.padEnd(width)}  ${'arrived'.padStart(10)}  ${'delivered'.padStart(10)}`,
    ...columns,
    '',
    ...findings,
    '',
    bold(terminal, report.sentence),
    `${figure(result.kills)} functions were killed at work. A read_uncommitted reader saw ${figure(phantom)} outputs that never happened.`,
    `Logs are in ${logDir}.`,
  ]
}

function parseRecords(text: string): number {
  return within(text, 1, flightsMax)
}

function parseSeconds(text: string): number {
  return within(text, 1, 3_600)
}

function parseKills(text: string): number {
  return text === 'off' ? 0 : within(text, 0, killsPerMinuteMax)
}

function within(text: string, min: number, max: number): number {
  const number = Number(text.replaceAll(/[,_]/g, ''))
  if (Number.isInteger(number) && number >= min && number <= max) return number
  throw new InvalidArgumentError(`"${text}" is not a whole number from ${figure(min)} to ${figure(max)}.`)
}
