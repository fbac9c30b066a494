import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'

const schema = v.object({
  pid: v.number(),
  brokers: v.array(v.string()),
  /** The brokers are ours, not a cluster that exists. */
  ownBrokers: v.boolean(),
  dynamoDb: v.string(),
  region: v.string(),
  credentials: v.object({ accessKeyId: v.string(), secretAccessKey: v.string() }),
  table: v.string(),
  s3: v.string(),
  bucket: v.string(),
  prefix: v.string(),
  /** Modules, absolute. */
  relays: v.array(v.string()),
  transactionTimeoutMs: v.number(),
})

/** Where a `fencepost dev` that runs serves, for commands that are started beside it. */
export type RunningStack = v.InferOutput<typeof schema>

const fileIn = (dir: string): string => join(dir, 'running.json')

/** Answers what takes the note away again. */
export async function noteRunningStack(dir: string, stack: RunningStack): Promise<() => Promise<void>> {
  await writeFile(fileIn(dir), JSON.stringify(stack), { mode: 0o600 })
  return () => rm(fileIn(dir), { force: true })
}

/** null: none runs in this directory. What a killed one left behind counts as none. */
export async function findRunningStack(dir: string): Promise<RunningStack | null> {
  const text = await readFile(fileIn(dir), 'utf8').catch(() => null)
  if (text === null) return null
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text)
  return success && isAlive(output.pid) ? output : null
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
