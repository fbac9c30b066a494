import { Command, InvalidArgumentError } from 'commander'
import { jsonOption, kafkaOption } from '../lib/cli/options.ts'
import { CommandFailed, type Terminal } from '../lib/cli/terminal.ts'
import type { KafkaVersion } from '../lib/local/kafka-jars.ts'
import { inSurroundings } from './in-surroundings.ts'
import { type LanesResult, lanes, levelLine } from './lanes.ts'
import { countFrom } from './options.ts'

interface Options {
  readonly kafka: KafkaVersion
  readonly commitEvery: readonly number[]
  readonly seconds: number
  readonly partitions: number
  readonly partitionsPerLane: number
  readonly containers: number
  readonly processes: number
  readonly recordsPerSecond: number
  readonly keys: boolean
  readonly json?: boolean
}

/** As many as a broker has unless told otherwise: coordinators' work is spread as in production. */
const internalTopics = { 'offsets.topic.num.partitions': '50', 'transaction.state.log.num.partitions': '50' }
const commitEveryDefault = '100,500,1000,5000'

const examples = `
Exit code: 0 every level relayed everything once, 1 it did not.

Examples:
  $ npm run bench -- lanes --json                                   four rhythms, about six minutes
  $ npm run bench -- lanes --commit-every 1000 --seconds 20         one of them
  $ npm run bench -- lanes --no-keys                                one output partition a lane: two markers a transaction
  $ npm run bench -- lanes --partitions-per-lane 8                  twelve lanes for the same partitions
  $ npm run bench -- lanes --processes 50                           each container in a process of its own`

export function lanesCommand(terminal: Terminal): Command {
  return new Command('lanes')
    .description('what many lanes cost a broker, and how late records are, by how often the lanes commit')
    .addOption(kafkaOption())
    .option('--commit-every <ms,...>', 'between the windows of a lane', rhythms, rhythms(commitEveryDefault))
    .option('--seconds <count>', 'measured, of each', countFrom(5, 500), 60)
    .option('--partitions <count>', 'of the source, and of the output', countFrom(1, 1_000), 96)
    .option('--partitions-per-lane <count>', 'that share a transaction', countFrom(1, 1_000), 1)
    .option('--containers <count>', 'that share the lanes', countFrom(1, 500), 50)
    .option('--processes <count>', 'that the containers share', countFrom(1, 500), 2)
    .option('--records-per-second <count>', 'of 200 bytes, over all partitions', countFrom(1, 1_000_000), 1_920)
    .option('--no-keys', 'each lane writes to one output partition; with keys to as many as its window has records for')
    .addOption(jsonOption())
    .addHelpText('after', examples)
    .action((options: Options) => run(options, terminal))
}

async function run(options: Options, terminal: Terminal): Promise<void> {
  const { kafka, commitEvery, keys: keyed, json = false, ...plan } = options
  const result = await inSurroundings(
    kafka,
    terminal,
    (place, reporting) => lanes(place, { ...plan, keyed, commitEveryMs: commitEvery, ...reporting }),
    internalTopics,
  )
  for (const line of json ? [JSON.stringify(result)] : lines(result)) terminal.out(line)
  if (!result.ok) throw new CommandFailed()
}

const lines = ({ levels, workload }: LanesResult): readonly string[] => [
  `${workload.partitions} partitions, ${workload.partitionsPerLane} a lane, ${workload.inProcess}, ${workload.recordsPerSecond} records/s`,
  ...levels.map(levelLine),
]

function rhythms(text: string): readonly number[] {
  const all = text.split(',').map(Number)
  if (all.every((ms) => Number.isInteger(ms) && ms >= 10 && ms <= 60_000)) return all
  throw new InvalidArgumentError(`"${text}" is not a list of whole numbers from 10 to 60,000.`)
}
