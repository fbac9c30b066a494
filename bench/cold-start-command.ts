import { Command } from 'commander'
import { jsonOption, kafkaOption } from '../lib/cli/options.ts'
import type { Terminal } from '../lib/cli/terminal.ts'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { type ColdStartResult, coldStart, type Spread } from './cold-start.ts'
import { inSurroundings } from './in-surroundings.ts'
import { countFrom } from './options.ts'

interface Options {
  readonly kafka: KafkaVersion
  readonly runs: number
  readonly json?: boolean
}

const examples = `
Examples:
  $ npm run bench -- cold-start                      fifteen new processes of each
  $ npm run bench -- cold-start --runs 40 --json     the result as one line of JSON, the last of stdout`

export function coldStartCommand(terminal: Terminal): Command {
  return new Command('cold-start')
    .description('from the start of a process to the first commit: the bundle as it is uploaded, against kafkajs')
    .addOption(kafkaOption())
    .option('--runs <count>', 'that are measured; one before them is not', countFrom(1, 1_000), 15)
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options: Options) => run(options, terminal))
}

async function run({ kafka, runs, json = false }: Options, terminal: Terminal): Promise<void> {
  const result = await inSurroundings(kafka, terminal, (place, reporting) => coldStart(place, { runs, ...reporting }))
  for (const line of json ? [JSON.stringify(result)] : lines(result)) terminal.out(line)
}

const lines = ({ relay, bareNodeMs, kafkajs, ratio, ratioVsKafkajsProcess }: ColdStartResult): readonly string[] => [
  `bundle   ${kilobytes(relay.bundleBytes)}, zipped ${kilobytes(relay.zipBytes)}, loaded in ${text(relay.moduleLoadMs)}`,
  `cold     ${text(relay.coldMs)} from process start to answer, ${text(relay.firstInvocationMs)} of it in the handler; processor ${text(relay.coldCpuMs)}`,
  `warm     ${text(relay.warmInvocationMs)}; without work ${text(relay.warmInvocationWithoutWorkMs)}`,
  `kafkajs  ${text(kafkajs.processMs)}: connect ${text(kafkajs.connectMs)}, transaction ${text(kafkajs.transactionMs)}; node -e 0 ${text(bareNodeMs)}; processor ${text(kafkajs.cpuMs)}`,
  `${ratio} times node -e 0 + connect + transaction, ${ratioVsKafkajsProcess} times the process that does it with kafkajs`,
]

const text = ({ median, min, max }: Spread): string => `${median} ms (${min} to ${max})`
const kilobytes = (bytes: number): string => `${Math.round(bytes / 1_000)} kB`
