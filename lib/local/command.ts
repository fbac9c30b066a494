import { spawn } from 'node:child_process'

export interface CommandResult {
  /** null when the command was not found or was killed. */
  readonly code: number | null
  /** stdout and stderr as they came. */
  readonly output: string
  readonly notFound: boolean
}

export interface CommandOptions {
  /** Default: this process's. */
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Ends the command and rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Runs a command to its end; rejects only when aborted. */
export function runCommand(
  command: string,
  args: readonly string[],
  { env = process.env, cwd, signal }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const abort = () => child.kill()
    signal?.addEventListener('abort', abort)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ code: null, output: error.message, notFound: error.code === 'ENOENT' }),
    )
    child.once('close', (code) => {
      signal?.removeEventListener('abort', abort)
      if (signal?.aborted) reject(signal.reason)
      else resolve({ code, output, notFound: false })
    })
  })
}

/** The end of a log for a message: stack frames say little to whoever must fix the cause. */
export const lastLines = (text: string, count: number): string =>
  text
    .trimEnd()
    .split('\n')
    .filter((line) => !/^\s+(at |\.\.\. )/.test(line))
    .slice(-count)
    .map((line) => `  ${line}`)
    .join('\n')
