import { Command, InvalidArgumentError, Option } from 'commander'
import { estimate } from '../cost/estimate.ts'
import { type Load, loadDefaults } from '../cost/load.ts'
import { prices, region } from '../cost/prices.ts'
import { costLines } from './cost-text.ts'
import { duration, jsonOption } from './options.ts'
import type { Terminal } from './terminal.ts'

interface Options {
  readonly recordsPerSecond: number
  readonly bytes: number
  readonly partitions: number
  readonly latency: number
  readonly outputFactor: number
  readonly memory: number
  readonly transformUs: number
  readonly zones: number
  readonly json?: boolean
}

const help = `
Every way to relay the load side by side: the four triggers of a deployment, fencepost worker on Fargate, and Managed
Flink. An estimate of a steady month, from measured CPU and window times, dated prices and the assumptions that
docs/operations/cost.md lists. Asks nobody, needs no account.

Exit code: 0 estimated, 1 a value is out of bounds, 2 wrong options.

Examples:
  $ fencepost cost --records-per-second 50
  $ fencepost cost --records-per-second 2,000 --bytes 300 --partitions 12 --latency 1s --memory 1024
  $ fencepost cost --records-per-second 0.2 --latency 5m --json | jq '.offers[] | {name, usd, p99Ms}'`

/** `fencepost cost`: a month of a load, trigger by trigger. */
export function costCommand(terminal: Terminal): Command {
  return new Command('cost')
    .requiredOption('--records-per-second <number>', 'on an average over the month, may be below 1', number)
    .option('--bytes <number>', 'of a record, as on the wire', number, loadDefaults.bytesPerRecord)
    .option('--partitions <number>', 'of the source', number, loadDefaults.partitions)
    .addOption(latencyOption())
    .option('--output-factor <number>', 'records written for each one read', number, loadDefaults.outputFactor)
    .option('--memory <MB>', 'of a function', number, loadDefaults.memoryMb)
    .option('--transform-us <number>', 'microseconds of CPU of your transform', number, loadDefaults.transformMicros)
    .option('--zones <number>', 'over which the brokers are spread', number, loadDefaults.zones)
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action((options: Options) => cost(options, terminal))
}

const latencyOption = (): Option =>
  new Option('--latency <duration>', 'within which outputs are wanted')
    .argParser(duration('0ms', '1d'))
    .default(loadDefaults.latencyMs, `${loadDefaults.latencyMs / 1_000}s`)

/** Digits may be grouped: 300,000 or 300_000. Bounds are those of the load, all checked at once. */
function number(text: string): number {
  const value = Number(text.replaceAll(/[,_]/g, ''))
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw new InvalidArgumentError(`"${text}" is not a number.`)
}

function cost(options: Options, terminal: Terminal): void {
  const found = estimate(loadOf(options))
  const result = { ok: true, region, ...found, prices }
  for (const line of options.json ? [JSON.stringify(result)] : costLines(found, terminal)) terminal.out(line)
}

const loadOf = (options: Options): Load => ({
  recordsPerSecond: options.recordsPerSecond,
  bytesPerRecord: options.bytes,
  partitions: options.partitions,
  latencyMs: options.latency,
  outputFactor: options.outputFactor,
  memoryMb: options.memory,
  transformMicros: options.transformUs,
  zones: options.zones,
})
