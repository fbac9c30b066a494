import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { type CliRun, runCliProcess } from './cli.ts'
import { runMarker, untilNothingLeft } from './leftovers.ts'

/** Commands of one test, in a folder of its own. */
export interface CliRuns {
  readonly dir: string
  /** `fencepost <args> --dir <dir>` as a process of its own, killed at the end of the test. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv): CliRun
  /** Resolves when no process is left that any of them started. @throws Error when one is left after `ms` */
  untilNothingLeft(ms: number): Promise<void>
}

/** For every test of the file that calls it: whatever it starts is gone afterwards, with all that came of it, or the test fails. */
export function cliRuns(name: string): CliRuns {
  let dir = ''
  let runId = ''
  const runs: CliRun[] = []
  const untilGone = (ms: number): Promise<void> => untilNothingLeft(runId, systemClock, ms)
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), `fencepost-${name}-`))
    runId = crypto.randomUUID()
  })
  afterEach(async () => {
    for (const { child, ended } of runs.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
    await untilGone(10_000)
    await rm(dir, { recursive: true, force: true })
  })
  return {
    get dir() {
      return dir
    },
    start([command = '', ...args], env = {}) {
      const run = runCliProcess([command, '--dir', dir, ...args], { ...process.env, ...env, [runMarker]: runId })
      runs.push(run)
      return run
    },
    untilNothingLeft: untilGone,
  }
}
