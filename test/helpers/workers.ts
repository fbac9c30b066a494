import { onTestFinished } from 'vitest'
import { deadlineIn, systemClock } from '../../lib/clock.ts'
import { type CliRun, runCliProcess } from './cli.ts'
import { deploymentEnv } from './deployment-env.ts'
import { runMarker } from './leftovers.ts'
import type { RelayWorld } from './relay-world.ts'

/** The environment is read strictly: the run's own mark is no setting. */
const { [runMarker]: _, ...environment } = process.env

/** `fencepost worker` as a process of its own, killed with the test. */
export async function startWorker(
  world: RelayWorld,
  module: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<CliRun> {
  const all = { ...environment, ...(await deploymentEnv(world)), ...env }
  const worker = runCliProcess(['worker', '--relay', module, ...args], all)
  onTestFinished(async () => {
    worker.child.kill('SIGKILL')
    await worker.ended
  })
  return worker
}

/** Asks again and again, for what nothing announces; throws with `what` after `withinMs`. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = 30_000): Promise<void> {
  const deadline = deadlineIn(systemClock, withinMs)
  while (!(await holds())) {
    if (deadline.remainingMs() <= 0) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await systemClock.sleep(50)
  }
}
