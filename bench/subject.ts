import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../lib/errors.ts'

/** What a subject is asked to do, and what it answers: JSON, matched by order. */
export type Answer = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly message: string }

/** One of the measured, in a process of its own: its memory and CPU time are its alone. */
export interface Subject {
  /** One question at a time. @throws Error with the subject's own message, or that it has exited */
  ask<Result>(question: unknown): Promise<Result>
  stop(): Promise<void>
}

const stopMs = 5_000

/**
 * Starts a module that calls `serve`. It exits when this process does, whatever this process dies of, since its channel
 * closes then. What it prints goes to `<dir>/<name>.log`.
 */
export function startSubject(
  module: string,
  name: string,
  dir: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Subject {
  const logFile = join(dir, `${name}.log`)
  const log = openSync(logFile, 'a')
  const stdio = ['ignore', log, log, 'ipc'] as const
  const child = fork(join(import.meta.dirname, module), [], {
    env: { PATH: process.env.PATH, ...env },
    stdio: [...stdio],
  })
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
    const died = () => reject(new Error(`a subject exited:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`))
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

/** In the subject: answers each question, and ends the process when the benchmark is gone. */
export function serve<Question>(answer: (question: Question) => Promise<unknown>): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', async (question: Question) => {
    process.send?.(
      await answer(question).then(
        (result): Answer => ({ ok: true, result }),
        (error): Answer => ({ ok: false, message: error instanceof Error ? (error.stack ?? '') : messageOf(error) }),
      ),
    )
  })
}
