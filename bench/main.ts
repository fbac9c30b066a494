/** `npm run bench -- throughput|latency|lanes|cold-start`: what Fencepost reaches on this machine, beside the same work by kafkajs. */
import { Command } from 'commander'
import { runProgram } from '../lib/cli/run-program.ts'
import { processTerminal } from '../lib/cli/terminal.ts'
import { coldStartCommand } from './cold-start-command.ts'
import { lanesCommand } from './lanes-command.ts'
import { latencyCommand } from './latency-command.ts'
import { throughputCommand } from './throughput-command.ts'

const root = new Command('npm run bench --').description(
  'Benchmarks on a real broker of their own, against the same work by hand with kafkajs. Nothing is left afterwards.',
)
process.exitCode = await runProgram(
  root,
  [throughputCommand, latencyCommand, lanesCommand, coldStartCommand],
  process.argv.slice(2),
  processTerminal(),
)
