import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { runChaos } from '../local/chaos/chaos.ts'
import { faultNames } from '../local/chaos/fault-names.ts'
import { fencepost } from '../local/chaos/fencepost-subject.ts'
import type { Subject } from '../local/chaos/subject.ts'
import type { KafkaVersion } from '../local/kafka-jars.ts'
import { chaosIntroduction, chaosLine, chaosLines, concludeChaos } from './chaos-report.ts'
import { demoScreen } from './demo-screen.ts'
import { dirOption, duration, jsonOption, kafkaOption, wholeNumber } from './options.ts'
import type { CommandMaker } from './run-program.ts'
import type { Terminal } from './terminal.ts'

/** A relay that this harness must catch, and the faults by which it does. */
export interface Control {
  readonly subject: Subject
  readonly faults: readonly string[]
  /** Records per second that it can bear. */
  readonly rate: number
}

interface Options {
  readonly kafka: KafkaVersion
  readonly for: number
  readonly every: number
  readonly faults?: readonly string[]
  readonly rate?: number
  readonly seed?: number
  readonly control?: string
  readonly dir: string
  readonly json?: boolean
}

const perSecondDefault = 400

const help = (controls: readonly string[]) => `
Faults: ${faultNames.join(', ')}.${controls.length > 0 ? `\nControls: ${controls.join(', ')}.` : ''}

Exit code: 0 nothing lost, nothing doubled, and each kind of fault struck something; 1 otherwise.

Examples:
  $ fencepost chaos                              every kind of fault, one each 5 s, for 2 minutes
  $ fencepost chaos --for 10m --every 30s --faults kill-function
  $ fencepost chaos --seed 7 --json              the faults of another run, in the same order`

/** `fencepost chaos`: a relay on three brokers under load and faults, and a proof. Exit code 0 only if proven. */
export function chaosCommand(controls: Readonly<Record<string, Control>> = {}): CommandMaker {
  const names = Object.keys(controls)
  return (terminal) => {
    const command = new Command('chaos')
      .addOption(durationOption('--for <duration>', 'how long, under load', '5s', '24h', '2m'))
      .addOption(durationOption('--every <duration>', 'a fault so often', '1s', '1h', '5s'))
      .option('--faults <names>', 'only these kinds, separated by commas (default: all)', faultList)
      .option('--rate <records>', `records per second (default: ${perSecondDefault})`, wholeNumber(1, 20_000))
      .option('--seed <number>', 'decides which fault comes when (default: drawn)', wholeNumber(0, 2 ** 32 - 1))
      .addOption(kafkaOption())
      .addOption(dirOption())
      .addOption(jsonOption())
      .addHelpText('after', help(names))
      .action((options: Options) => chaos(options, controls, terminal))
    return names.length === 0 ? command : command.option('--control <name>', 'put a broken relay there instead')
  }
}

function durationOption(flags: string, about: string, least: string, most: string, byDefault: string): Option {
  const parse = duration(least, most)
  return new Option(flags, about).argParser(parse).default(parse(byDefault), byDefault)
}

async function chaos(options: Options, controls: Readonly<Record<string, Control>>, terminal: Terminal): Promise<void> {
  const { json = false, kafka, seed = drawnSeed() } = options
  const { subject, ...itsOwn } = tried(options.control, controls)
  const { rate = itsOwn.rate, faults = itsOwn.faults } = options
  const plan = { subject, kafka, rate, seed, faults, forMs: options.for, everyMs: options.every }
  checkRoom(plan)
  for (const line of chaosIntroduction(plan)) terminal.err(line)
  const screen = demoScreen(terminal, json, systemClock.now)
  const outcome = await runChaos({
    ...plan,
    dir: join(options.dir, 'chaos'),
    signal: terminal.interrupted,
    say: screen.say,
    progress: (progress) => screen.show(chaosLines(progress, options.for), chaosLine(progress)),
  })
  concludeChaos(outcome, terminal, json)
}

const drawnSeed = (): number => Math.floor(Math.random() * 2 ** 32)

function tried(name: string | undefined, controls: Readonly<Record<string, Control>>): Control {
  if (name === undefined) return { subject: fencepost, faults: faultNames, rate: perSecondDefault }
  const control = controls[name]
  if (control) return control
  throw new RelayError(
    'CONFIG_INVALID',
    `no control is called '${name}'; give one of ${Object.keys(controls).join(', ')}.`,
  )
}

/** Each kind must come at least once, or the run would fail for it in the end. */
function checkRoom({ faults, forMs, everyMs }: { faults: readonly string[]; forMs: number; everyMs: number }): void {
  const turns = Math.floor(forMs / everyMs)
  if (turns >= faults.length) return
  const wanted = Math.ceil((faults.length * everyMs) / 1_000)
  throw new RelayError(
    'CONFIG_INVALID',
    `${faults.length} kinds of fault, and time for ${turns}; give --for ${wanted}s or longer, or fewer --faults.`,
  )
}

function faultList(text: string): readonly string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))]
  for (const name of names) {
    if (!faultNames.includes(name)) {
      throw new InvalidArgumentError(`no fault is called "${name}"; there are ${faultNames.join(', ')}.`)
    }
  }
  return names
}
