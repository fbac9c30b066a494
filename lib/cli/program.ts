import { Command } from 'commander'
import { demoCommand } from './demo.ts'
import { devCommand } from './dev.ts'
import { type CommandMaker, runProgram } from './run-program.ts'
import type { Terminal } from './terminal.ts'
import { verifyCommand } from './verify.ts'

const commands: readonly CommandMaker[] = [demoCommand, devCommand, verifyCommand]

/** Runs one command line of `fencepost` (without `node` and the script). Answers the exit code; never rejects. */
export function runCli(args: readonly string[], terminal: Terminal, makers = commands): Promise<number> {
  const root = new Command('fencepost').description('An exactly-once Kafka relay that runs as cloud functions')
  return runProgram(root, makers, args, terminal)
}
