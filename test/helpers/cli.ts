import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliRun {
  readonly child: ChildProcess
  /** Resolves with the first complete line of stdout; rejects with stderr when the process ends without one. */
  readonly firstLine: Promise<string>
  /** Resolves with all of stderr so far once it has `pattern` in it; rejects when the process ends without. */
  untilSaid(pattern: RegExp): Promise<string>
  readonly ended: Promise<CliResult>
}

const cliMain = join(import.meta.dirname, '..', '..', 'lib', 'cli', 'main.ts')

/** `fencepost <args>` as a process of its own. */
export const runCliProcess = (args: readonly string[], env?: NodeJS.ProcessEnv): CliRun =>
  runProcess(process.execPath, [cliMain, ...args], env)

export function runProcess(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd = process.cwd(),
): CliRun {
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { stdout: '', stderr: '' }
  const firstLine = Promise.withResolvers<string>()
  firstLine.promise.catch(() => undefined)
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk
    const end = text.stdout.indexOf('\n')
    if (end >= 0) firstLine.resolve(text.stdout.slice(0, end))
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text.stderr += chunk
  })
  const untilSaid = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = () => pattern.test(text.stderr) && resolve(text.stderr)
      child.stderr.on('data', look)
      child.once('close', () => reject(new Error(`ended before it said ${pattern}: ${text.stderr}`)))
      look()
    })
  const ended = new Promise<CliResult>((resolve) => {
    child.once('close', (code) => {
      firstLine.reject(new Error(`ended with ${code}: ${text.stderr}`))
      resolve({ code, ...text })
    })
  })
  return { child, firstLine: firstLine.promise, untilSaid, ended }
}
