import { Command } from 'commander'
import { jsonOption, kafkaOption } from '../lib/cli/options.ts'
import type { Terminal } from '../lib/cli/terminal.ts'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { inSurroundings } from './in-surroundings.ts'
import { countFrom } from './options.ts'
import { type ThroughputFigures, throughput } from './throughput.ts'

interface Options {
  readonly kafka: KafkaVersion
  readonly runs: number
  readonly records: number
  readonly kafkajsRecords?: number
  readonly json?: boolean
}

/** kafkajs relays about that much less in the same time. */
const kafkajsShare = 0.2

const examples = `
Examples:
  $ npm run bench -- throughput                     a million records, five runs each
  $ npm run bench -- throughput --runs 7 --json     the result as one line of JSON, the last of stdout
  $ npm run bench -- throughput --kafka 3.9         on the older transaction protocol`

export function throughputCommand(terminal: Terminal): Command {
  return new Command('throughput')
    .description(
      'records a second from fetch to commit, fencing on: one relay process against one of kafkajs, in turns',
    )
    .addOption(kafkaOption())
    .option('--runs <count>', 'of each', countFrom(1, 99), 5)
    .option('--records <count>', 'of 200 bytes, in 4 partitions', countFrom(1_000, 20_000_000), 1_000_000)
    .option('--kafkajs-records <count>', 'for kafkajs (default: a fifth)', countFrom(1_000, 20_000_000))
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options: Options) => run(options, terminal))
}

async function run({ kafka, runs, records, kafkajsRecords, json = false }: Options, terminal: Terminal): Promise<void> {
  const figures = { runs, records, kafkajsRecords: kafkajsRecords ?? Math.ceil(records * kafkajsShare) }
  const result = await inSurroundings(kafka, terminal, (place, reporting) =>
    throughput(place, { ...figures, ...reporting }),
  )
  if (json) return terminal.out(JSON.stringify(result))
  terminal.out(`relay    ${lineOf(result.relay)}`)
  terminal.out(`kafkajs  ${lineOf(result.kafkajs)}`)
  terminal.out(`${result.ratioVsKafkajs} times kafkajs (run by run: ${result.ratioPairwise})`)
}

const lineOf = ({ recordsPerSecond, spread, windowMsP50, rssMiB, cpuSeconds }: ThroughputFigures): string =>
  [
    `${recordsPerSecond.toLocaleString('en')} records/s (spread ${Math.round(spread * 100)} %)`,
    `window ${windowMsP50} ms`,
    `${rssMiB} MiB`,
    `${cpuSeconds} s of CPU a million records`,
  ].join(', ')
