import { Command } from 'commander'
import { type CommandMaker, runProgram } from './run-program.ts'
import type { Terminal } from './terminal.ts'

/** A command by name. Its module is loaded when it is asked for: help is quick, and one that is broken breaks itself only. */
export interface CommandEntry {
  readonly name: string
  readonly about: string
  readonly load: () => Promise<CommandMaker>
}

const commands: readonly CommandEntry[] = [
  {
    name: 'demo',
    about: 'relay real flights while functions are killed at work, then prove that none is lost or doubled',
    load: async () => (await import('./demo.ts')).demoCommand,
  },
  {
    name: 'init',
    about: 'make a folder for a relay of your own: relay, test, serverless.yml',
    load: async () => (await import('./init.ts')).initCommand,
  },
  {
    name: 'dev',
    about: 'run Kafka, DynamoDB, S3 and your relays as functions on this machine until Ctrl-C',
    load: async () => (await import('./dev.ts')).devCommand,
  },
  {
    name: 'preflight',
    about: 'ask everything that the promise rests on, and name all that is wrong before it runs',
    load: async () => (await import('./preflight.ts')).preflightCommand,
  },
  {
    name: 'cost',
    about: 'estimate what a month costs, trigger by trigger',
    load: async () => (await import('./cost.ts')).costCommand,
  },
  {
    name: 'verify',
    about: 'prove from the log that a relay lost nothing, doubled nothing and kept the order',
    load: async () => (await import('./verify.ts')).verifyCommand,
  },
  {
    name: 'chaos',
    about: 'break everything around a relay and the relay itself, then prove that nothing is lost or doubled',
    load: async () => (await import('./chaos.ts')).chaosCommand(),
  },
  {
    name: 'status',
    about: 'show how each lane of a relay stands: position, lag, owner, what stopped it',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'worker',
    about: 'run a relay as an always-on process; several share its lanes',
    load: async () => (await import('./worker.ts')).workerCommand,
  },
  {
    name: 'drain',
    about: 'relay everything that is there, from here, and say when it is done',
    load: async () => (await import('./drain.ts')).drainCommand,
  },
  {
    name: 'resume',
    about: 'let stopped lanes go on from where they are',
    load: async () => (await import('./resume.ts')).resumeCommand,
  },
  {
    name: 'rollback',
    about: 'let an older deployment have the lanes again, after serverless rollback',
    load: async () => (await import('./rollback.ts')).rollbackCommand,
  },
  {
    name: 'redrive',
    about: 'send dead letters back to the source, each once',
    load: async () => (await import('./redrive.ts')).redriveCommand,
  },
  {
    name: 'abort-hanging',
    about: 'find transactions that hold readers back for ever, and end them',
    load: async () => (await import('./abort-hanging.ts')).abortHangingCommand,
  },
  {
    name: 'reset',
    about: 'move lanes to another place in the source',
    load: async () => (await import('./reset.ts')).resetCommand,
  },
]

const examples = `
Examples:
  $ fencepost demo                               see it work, and proven
  $ fencepost dev --relay relays/delays.ts       run a relay of yours here
  $ fencepost verify --help                      options and examples of a command`

/** Runs one command line of `fencepost` (without `node` and the script). Answers the exit code; never rejects. */
export function runCli(args: readonly string[], terminal: Terminal, entries = commands): Promise<number> {
  const root = new Command('fencepost')
    .description('An exactly-once Kafka relay that runs as cloud functions')
    .addHelpText('after', examples)
  const asked = args.find((arg) => !arg.startsWith('-') && arg !== 'help')
  return runProgram(
    root,
    entries.map((entry) => makerOf(entry, asked)),
    args,
    terminal,
  )
}

/** Of all others the help needs name and description only. */
const makerOf =
  ({ name, about, load }: CommandEntry, asked: string | undefined): CommandMaker =>
  async (terminal) => {
    const command = name === asked ? await (await load())(terminal) : new Command(name)
    return command.description(about)
  }
