/** `npm run chaos`: `fencepost chaos`, with relays that it must catch. */
import { Command } from 'commander'
import { chaosCommand } from '../../lib/cli/chaos.ts'
import { runProgram } from '../../lib/cli/run-program.ts'
import { processTerminal } from '../../lib/cli/terminal.ts'
import { randomIds } from './controls/broken-engine.ts'
import { naiveKafkajs } from './controls/naive-kafkajs.ts'

const command = chaosCommand({
  'naive-kafkajs': naiveKafkajs,
  'random-ids': randomIds,
})
const root = new Command('npm run').description('fencepost chaos, with relays that it must catch')
process.exitCode = await runProgram(root, [command], ['chaos', ...process.argv.slice(2)], processTerminal())
