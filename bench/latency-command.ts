import { Command } from 'commander'
import { jsonOption, kafkaOption } from '../lib/cli/options.ts'
import type { Terminal } from '../lib/cli/terminal.ts'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { inSurroundings } from './in-surroundings.ts'
import { type LatencyFigures, latency } from './latency.ts'
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
    .action((options: Options) => run(options, terminal))
}

async function run({ kafka, windows, json = false }: Options, terminal: Terminal): Promise<void> {
  const result = await inSurroundings(kafka, terminal, (place, reporting) => latency(place, { windows, ...reporting }))
  if (json) return terminal.out(JSON.stringify(result))
  terminal.out(`relay    ${lineOf(result.relay)}, answered after ${result.relay.toAnswer.msP50} ms p50`)
  terminal.out(`kafkajs  ${lineOf(result.kafkajs)}`)
  terminal.out(`kafkajs takes ${result.ratioVsKafkajs.p50} times as long at p50, ${result.ratioVsKafkajs.p99} at p99`)
}

const lineOf = ({ msP50, msP99, msMax }: LatencyFigures): string => `${msP50} ms p50, ${msP99} ms p99, ${msMax} ms max`
