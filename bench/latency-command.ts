import { Command } from 'commander'
import { jsonOption, kafkaOption } from '../lib/cli/options.ts'
import type { Terminal } from '../lib/cli/terminal.ts'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { type HopResult, hop } from './hop.ts'
import { inSurroundings } from './in-surroundings.ts'
import { type LatencyFigures, type LatencyResult, latency } from './latency.ts'
import { countFrom } from './options.ts'

interface Options {
  readonly kafka: KafkaVersion
  readonly windows: number
  readonly hop?: boolean
  readonly json?: boolean
}

const examples = `
Examples:
  $ npm run bench -- latency                   windows of 100 records, warm, from bell to commit
  $ npm run bench -- latency --hop             each bell in another warm container
  $ npm run bench -- latency --windows 2000 --json`

export function latencyCommand(terminal: Terminal): Command {
  return new Command('latency')
    .description('milliseconds from bell to commit of a window of 100 records, warm, fencing on, against kafkajs')
    .addOption(kafkaOption())
    .option('--windows <count>', 'that are measured', countFrom(10, 100_000), 1_000)
    .option('--hop', 'the lane hops between two warm containers')
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options: Options) => (options.hop ? runHop(options, terminal) : run(options, terminal)))
}

async function run({ kafka, windows, json = false }: Options, terminal: Terminal): Promise<void> {
  const result = await inSurroundings(kafka, terminal, (place, reporting) => latency(place, { windows, ...reporting }))
  for (const line of json ? [JSON.stringify(result)] : lines(result)) terminal.out(line)
}

async function runHop({ kafka, windows, json = false }: Options, terminal: Terminal): Promise<void> {
  const result = await inSurroundings(kafka, terminal, (place, reporting) => hop(place, { windows, ...reporting }))
  for (const line of json ? [JSON.stringify(result)] : hopLines(result)) terminal.out(line)
}

const lines = ({ relay, kafkajs, kafkajsInHand, ratioVsKafkajs }: LatencyResult): readonly string[] => [
  `relay    ${figures(relay)}, answered after ${relay.toAnswer.msP50} ms p50`,
  `kafkajs  ${figures(kafkajs)}; it takes no fence`,
  `         ${figures(kafkajsInHand)} with its records in hand, nothing fetched`,
  `kafkajs takes ${ratioVsKafkajs.p50} times as long at p50, ${ratioVsKafkajs.p99} at p99, ${ratioVsKafkajs.mean} on average`,
]

const figures = ({ msP50, msP99, msMax }: LatencyFigures): string => `${msP50} ms p50, ${msP99} ms p99, ${msMax} ms max`

const hopLines = (result: HopResult): readonly string[] => [
  `${result.msP50} ms p50, ${result.msP99} ms p99 from bell to commit in another container, answered after ${result.toAnswerMsP50} ms p50`,
  `a bell with work: ${result.fenceWritesPerInvocation} fence writes, ${result.barriersPerInvocation} barriers`,
  `a bell without:   ${result.fenceWritesPerNoopBell} fence writes, ${result.barriersPerNoopBell} barriers`,
]
