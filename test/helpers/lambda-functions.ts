import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, deadlineIn, systemClock } from '../../lib/clock.ts'
import { createLambdaHost, type LambdaHost } from '../../lib/local/lambda-host/lambda-host.ts'
import { runMarker } from './leftovers.ts'

/** In a function's environment, so that a container that outlives its test is found. */
export const markedEnv = (): Record<string, string> => ({ [runMarker]: process.env[runMarker] ?? '' })

export interface TestFunctions {
  readonly host: LambdaHost
  /** Writes `source` as the module of a new function and deploys it as `name`. */
  deploy(name: string, source: string, options?: Partial<Parameters<LambdaHost['deploy']>[0]>): Promise<void>
  stop(): Promise<void>
}

/** A Lambda host and a temporary folder for the functions of one test file. */
export async function testFunctions(): Promise<TestFunctions> {
  const host = createLambdaHost()
  const dir = await mkdtemp(join(tmpdir(), 'fencepost-functions-'))
  return {
    host,
    async deploy(name, source, options = {}) {
      const bundleDir = await mkdtemp(join(dir, `${name}-`))
      await writeFile(join(bundleDir, 'main.mjs'), source)
      const env = { ...markedEnv(), ...options.env }
      await host.deploy({ name, code: { bundleDir }, handler: 'main.handler', ...options, env })
    },
    async stop() {
      await host.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Asks every few milliseconds, for what nothing announces; throws with `what` after 10 s. */
export async function eventually(what: string, holds: () => boolean, clock: Clock = systemClock): Promise<void> {
  const deadline = deadlineIn(clock, 10_000)
  while (!holds()) {
    if (deadline.remainingMs() <= 0) throw new Error(`Not within 10 s: ${what}`)
    await clock.sleep(5)
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
