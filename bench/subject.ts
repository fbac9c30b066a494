import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleFunction } from '../lib/local/bundle.ts'
import type { Answer } from './serve.ts'

/** One of the measured, in a process of its own: its memory and CPU time are its alone. */
export interface Subject {
  /** One question at a time. @throws Error with the subject's own message, or that it has exited */
  ask<Result>(question: unknown): Promise<Result>
  stop(): Promise<void>
}

export interface SubjectOptions {
  readonly name: string
  /** A module that calls `serve`, relative to this folder. */
  readonly module: string
  readonly nodeFlags?: readonly string[]
  /** Gets its bundle and its log. */
  readonly dir: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const stopMs = 5_000

/**
 * Bundled as functions are, so that its memory is not that of a compiler. It exits when this process does, whatever this
 * process dies of, since its channel closes then. What it prints goes to `<dir>/<name>.log`.
 */
export async function startSubject({
  name,
  module,
  nodeFlags = [],
  dir,
  env,
  signal,
}: SubjectOptions): Promise<Subject> {
  const { file } = await bundleFunction(join(import.meta.dirname, module), join(dir, 'bundles'))
  const logFile = join(dir, `${name}.log`)
  const log = openSync(logFile, 'a')
  const child = fork(file, [], { execArgv: [...nodeFlags], env, stdio: ['ignore', log, log, 'ipc'] })
  closeSync(log)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    async ask<Result>(question: unknown): Promise<Result> {
      const answer = await oneAnswer(child, question, logFile, signal)
      if (!answer.ok) throw new Error(`${name}: ${answer.message}`)
      return answer.result as Result // both ends are in this folder
    },
    async stop() {
      if (child.connected) child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
      await exited
      clearTimeout(timer)
    },
  }
}

function oneAnswer(child: ChildProcess, question: unknown, logFile: string, signal: AbortSignal): Promise<Answer> {
  const over = new AbortController()
  return new Promise<Answer>((resolve, reject) => {
    const died = () => reject(new Error(`a subject exited:\n${lastWords(logFile)}`))
    const interrupted = () => reject(signal.reason)
    child.once('message', resolve)
    child.once('exit', died)
    signal.addEventListener('abort', interrupted)
    over.signal.addEventListener('abort', () => {
      child.off('message', resolve)
      child.off('exit', died)
      signal.removeEventListener('abort', interrupted)
    })
    if (signal.aborted) return interrupted()
    if (!child.connected) return died()
    child.send(question as object)
  }).finally(() => over.abort())
}

/** The end of its log; without the line of the bundle that Node quotes, which is the whole bundle. */
const lastWords = (logFile: string): string =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && line.length < 500)
    .slice(-12)
    .join('\n')
