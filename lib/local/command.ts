import { spawn } from 'node:child_process'

export interface CommandResult {
  /** null when the command was not found or was killed. */
  readonly code: number | null
  /** stdout and stderr as they came. */
  readonly output: string
  readonly notFound: boolean
}

/** Runs a command to its end; never rejects. */
export function runCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ code: null, output: error.message, notFound: error.code === 'ENOENT' }),
    )
    child.once('close', (code) => resolve({ code, output, notFound: false }))
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
