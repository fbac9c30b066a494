import { createInterface } from 'node:readline/promises'

/** Where a command writes. Results go to stdout, everything else to stderr, so that `--json` output can be piped. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** False with NO_COLOR set (https://no-color.org) or when stdout is no terminal. */
  readonly color: boolean
  /** The terminal behind stderr, to draw lines anew; left out in a pipe, in CI, with NO_COLOR or TERM=dumb. */
  readonly screen?: Screen
  /** What somebody types in answer; left out where nobody can: stdin is no terminal. */
  ask?(question: string): Promise<string>
  /** Aborted by Ctrl-C, SIGTERM, SIGHUP or a closed pipe behind stdout; its reason is an Interrupted. */
  readonly interrupted: AbortSignal
}

export interface Screen {
  /** As wide as the window is now. */
  readonly columns: number
  write(text: string): void
}

export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`)
    this.signal = signal
  }
}

/** The command ran, says no, and has printed all there is to say: an exit code and nothing more. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  readonly exitCode: number

  constructor(exitCode = 1) {
    super()
    this.exitCode = exitCode
  }
}

/**
 * The terminal of this process. From now on signals do not end the process: commands listen to `interrupted` and stop
 * cleanly. Repeated signals change nothing, because npm and a terminal deliver one Ctrl-C several times.
 */
export function processTerminal(): Terminal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => controller.abort(new Interrupted(signal)))
  }
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    controller.abort(new Interrupted('SIGPIPE')) // nobody reads any more, as behind `| head`
  })
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    color: process.stdout.isTTY && !process.env.NO_COLOR,
    ...(canRedraw() ? { screen: stderrScreen } : {}),
    ...(process.stdin.isTTY ? { ask: (question) => askOnStderr(question, controller.signal) } : {}),
    interrupted: controller.signal,
  }
}

const canRedraw = (): boolean => {
  const { NO_COLOR, CI, TERM } = process.env
  return process.stderr.isTTY === true && !NO_COLOR && !CI && TERM !== 'dumb'
}

/** Ctrl-D is an empty answer; Ctrl-C, which readline keeps to itself, interrupts as everywhere. */
async function askOnStderr(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return await Promise.race([lines.question(question, { signal }), ended])
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    lines.close()
  }
}

const stderrScreen: Screen = {
  get columns() {
    return process.stderr.columns || 80
  },
  write: (text) => process.stderr.write(text),
}

export const bold = (terminal: Terminal, text: string): string => (terminal.color ? `\u001b[1m${text}\u001b[22m` : text)
