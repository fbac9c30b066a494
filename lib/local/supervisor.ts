/**
 * A process of its own that starts brokers and function containers for its parent and outlives the parent just long
 * enough to kill them. Node closes the channel between the two whatever the parent dies of, SIGKILL included.
 *
 * It ignores the signals of a terminal: the parent decides what Ctrl-C means for whom.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { SupervisorEvent, SupervisorOrder } from './supervised-process.ts'

const children = new Map<number, ChildProcess>()

const tell = (event: SupervisorEvent): void => {
  process.send?.(event)
}

function start(order: Extract<SupervisorOrder, { do: 'start' }>): void {
  const log = openSync(order.logFile, 'a')
  const child = spawn(order.command, order.args, { cwd: order.cwd, env: order.env, stdio: ['ignore', log, log] })
  closeSync(log)
  children.set(order.id, child)
  child.once('spawn', () => tell({ is: 'started', id: order.id, pid: child.pid ?? 0 }))
  child.once('error', (error) => tell({ is: 'failed', id: order.id, message: error.message }))
  child.once('exit', (code, signal) => {
    children.delete(order.id)
    tell({ is: 'exited', id: order.id, code, signal })
  })
}

function obey(order: SupervisorOrder): void {
  if (order.do === 'signal') {
    children.get(order.id)?.kill(order.signal)
    return
  }
  try {
    start(order)
  } catch (error) {
    tell({ is: 'failed', id: order.id, message: String(error) })
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('message', obey)
process.once('disconnect', () => {
  for (const child of children.values()) child.kill('SIGKILL')
  process.exit(0)
})
