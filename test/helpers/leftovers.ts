import { readdirSync, readFileSync } from 'node:fs'
import { type Clock, deadlineIn } from '../../lib/clock.ts'

/** In the environment of everything that a test run starts, and so of everything that this starts in turn. */
export const runMarker = 'FENCEPOST_TEST_RUN'

export interface Leftover {
  readonly pid: number
  readonly parentPid: number
  readonly command: string
}

/** A file of a process that may end while we read. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Processes that carry this run's marker. Linux only: elsewhere there is no /proc and nothing is found. */
export function processesOfRun(runId: string): readonly Leftover[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  return names
    .map(Number)
    .filter((pid) => pid > 0 && read(pid, 'environ').split('\0').includes(`${runMarker}=${runId}`))
    .map((pid) => ({
      pid,
      parentPid: Number(/^PPid:\s+(\d+)/m.exec(read(pid, 'status'))?.[1] ?? 0),
      command: read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 160),
    }))
}

/** Vitest's own workers are children of the process that runs the set-up; whatever else lives was left behind. */
export const leftoversOf = (runId: string, runnerPid: number): readonly Leftover[] =>
  processesOfRun(runId).filter(({ parentPid }) => parentPid !== runnerPid)

/** Resolves when nothing is left; rejects with the list when something still is after `withinMs`. */
export async function untilNothingLeft(runId: string, clock: Clock, withinMs: number): Promise<void> {
  const deadline = deadlineIn(clock, withinMs)
  for (;;) {
    const left = leftoversOf(runId, process.pid)
    if (left.length === 0) return
    if (deadline.remainingMs() <= 0) {
      const lines = left.map(({ pid, command }) => `  ${pid} ${command}`)
      throw new Error(`Tests left ${left.length} processes behind; stop what you start:\n${lines.join('\n')}`)
    }
    await clock.sleep(50)
  }
}
