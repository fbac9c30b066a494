import { type Command, CommanderError } from 'commander'
import { isRelayError, messageOf } from '../errors.ts'
import { CommandFailed, Interrupted, type Terminal } from './terminal.ts'

export const exitCodes = {
  ok: 0,
  /** The command ran and says no, or could not run. */
  failed: 1,
  /** Unknown command or option. */
  usage: 2,
  /** Stopped by a signal before it was done, everything cleaned up. */
  interrupted: 130,
} as const

/** One file a command. A command that fails throws: a RelayError to be printed, or CommandFailed when it has said all itself. */
export type CommandMaker = (terminal: Terminal) => Command | Promise<Command>

/** Runs one command line (without `node` and the script) of the program `root`. Answers the exit code; never rejects. */
export async function runProgram(
  root: Command,
  makers: readonly CommandMaker[],
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    for (const make of makers) root.addCommand(await make(terminal))
    for (const command of [root, ...root.commands]) speakThrough(terminal, command)
    await root.parseAsync(args, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    return report(error, args.includes('--json'), terminal)
  }
}

function speakThrough(terminal: Terminal, command: Command): void {
  command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .showHelpAfterError('See --help.')
}

function report(error: unknown, json: boolean, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  if (error instanceof CommandFailed) return error.exitCode
  const code = isRelayError(error) ? error.code : error instanceof Interrupted ? 'INTERRUPTED' : 'UNEXPECTED'
  if (json) terminal.out(JSON.stringify({ ok: false, code, message: messageOf(error) }))
  terminal.err(`fencepost: ${code === 'UNEXPECTED' && error instanceof Error ? error.stack : messageOf(error)}`)
  return error instanceof Interrupted ? exitCodes.interrupted : exitCodes.failed
}
