import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

export interface MeasuredProcessOptions {
  readonly name: string
  /** Flags of Node, script and its arguments. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Gets its log. */
  readonly dir: string
  readonly signal: AbortSignal
}

/** A process that is timed from outside, from the moment before it is spawned to what it reports (report.ts). */
export class MeasuredProcess {
  readonly #startedMs = performance.now()
  readonly #child: ChildProcess
  readonly #reports: AsyncIterator<string>
  readonly #logFile: string

  constructor({ name, args, env, dir, signal }: MeasuredProcessOptions) {
    this.#logFile = join(dir, `${name}.log`)
    const log = openSync(this.#logFile, 'a')
    this.#child = spawn(process.execPath, args, { env: { ...env }, stdio: ['pipe', log, log, 'pipe'], signal })
    this.#child.on('error', () => undefined) // an abort: it is killed, and its reports end
    closeSync(log)
    const reports = createInterface({ input: this.#child.stdio[3] as Readable })
    this.#reports = reports[Symbol.asyncIterator]()
  }

  /** Its next report, and how long after its start it came. @throws Error with the end of its log when it exits instead */
  async report<Figures>(): Promise<Figures & { readonly sinceStartMs: number }> {
    const { value, done } = await this.#reports.next()
    const sinceStartMs = performance.now() - this.#startedMs
    if (done) throw new Error(`a measured process exited:\n${readFileSync(this.#logFile, 'utf8').slice(-2_000)}`)
    return { ...(JSON.parse(value) as Figures), sinceStartMs } // both ends are in this folder
  }

  tell(line: string): void {
    const stdin = this.#child.stdin as Writable
    stdin.write(`${line}\n`)
  }

  /** Milliseconds from before it was spawned to its own end. */
  async lifeMs(): Promise<number> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
    return performance.now() - this.#startedMs
  }

  /** At once, as Lambda ends a container. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.lifeMs()
  }
}
