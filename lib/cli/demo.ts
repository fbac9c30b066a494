import { join } from 'node:path'
import { Command } from 'commander'
import { systemClock } from '../clock.ts'
import { type DemoOptions, runDemo } from '../local/demo/demo.ts'
import { flightsMax } from '../local/demo/flights.ts'
import type { KafkaVersion } from '../local/kafka-jars.ts'
import { figure } from '../verify/finding.ts'
import { concludeDemo, demoIntroduction } from './demo-report.ts'
import { demoScreen, progressLine, progressLines } from './demo-screen.ts'
import { dirOption, jsonOption, kafkaOption, wholeNumber } from './options.ts'
import type { Terminal } from './terminal.ts'

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
const arrivalSecondsMost = 3_600
/** What two cores can feed, relay and count at once. */
const arrivalsPerSecondMax = 30_000

const examples = `
Examples:
  $ fencepost demo                               300,000 flights, a function killed about every second
  $ fencepost demo --kafka 3.9                   on the older transaction protocol
  $ fencepost demo --records 3000000             all the flights there are
  $ fencepost demo --kills off --json            undisturbed; the result as one line of JSON`

/** `fencepost demo`: everything on this machine, functions killed at work, and a proof. Exit code 0 only if proven. */
export function demoCommand(terminal: Terminal): Command {
  return new Command('demo')
    .addOption(kafkaOption())
    .option(
      '--records <count>',
      `flights to relay, up to ${figure(flightsMax)}`,
      wholeNumber(1, flightsMax),
      recordsDefault,
    )
    .option(
      '--seconds <count>',
      'how long they take to arrive (default: 20 or more)',
      wholeNumber(1, arrivalSecondsMost),
    )
    .option('--kills <per minute>', 'functions to kill, or "off"', killsPerMinute, killsPerMinuteDefault)
    .addOption(dirOption())
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options: Options) => demo(options, terminal))
}

async function demo(options: Options, terminal: Terminal): Promise<void> {
  const { json = false } = options
  const screen = demoScreen(terminal, json, systemClock.now)
  const plan = {
    dir: join(options.dir, 'demo'),
    kafka: options.kafka,
    records: options.records,
    arrivalMs: 1_000 * (options.seconds ?? arrivalSeconds(options.records)),
    killsPerMinute: options.kills,
  }
  for (const line of demoIntroduction(plan)) terminal.err(line)
  const course: Pick<DemoOptions, 'say' | 'progress' | 'reading'> = {
    say: screen.say,
    progress: (progress) => screen.show(progressLines(progress), progressLine(progress)),
    reading: ({ phase, records }) => {
      const line = `${figure(records)} records of the ${phase} read back`
      screen.show([`  ${line}`], line)
    },
  }
  concludeDemo(await runDemo({ ...plan, ...course, signal: terminal.interrupted }), terminal, json)
}

const arrivalSeconds = (records: number): number =>
  Math.max(arrivalSecondsLeast, Math.ceil(records / arrivalsPerSecondMax))

const killsPerMinute = (text: string): number => (text === 'off' ? 0 : wholeNumber(1, killsPerMinuteMax)(text))
