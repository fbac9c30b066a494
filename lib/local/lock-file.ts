import { readFileSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { RelayError } from '../errors.ts'

export interface Lock {
  release(): Promise<void>
}

interface Owner {
  readonly pid: number
  /** Tells the owner from a later process with the same pid; null where the system doesn't say. */
  readonly startedAt: string | null
}

const triesMax = 10

/**
 * One live process at a time holds `file`. The lock of a process that has died, whatever of, is taken over.
 * `what` completes "… is in use".
 * @throws RelayError LOCAL_STACK with the pid of the live owner.
 */
export async function lockFile(file: string, what: string, fix: string): Promise<Lock> {
  await mkdir(dirname(file), { recursive: true })
  const mine = JSON.stringify(ownerOf(process.pid))
  for (let tries = 1; tries <= triesMax; tries++) {
    if (await create(file, mine)) return { release: () => release(file, mine) }
    const found = await readFile(file, 'utf8').catch(() => null)
    if (found === null) continue
    const owner = parse(found)
    if (owner && isAlive(owner)) throw inUse(file, what, fix, owner.pid)
    await remove(file, found)
  }
  throw new RelayError('LOCAL_STACK', `${file} changed hands ${triesMax} times while it was being taken; try again.`)
}

const inUse = (file: string, what: string, fix: string, pid: number): RelayError =>
  new RelayError('LOCAL_STACK', `${what} is in use by process ${pid}. ${fix}`, { context: { pid, file } })

/** Atomic, content included: nobody sees a lock without an owner. */
async function create(file: string, content: string): Promise<boolean> {
  const draft = `${file}.${process.pid}.${crypto.randomUUID()}`
  await writeFile(draft, content)
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Moves a dead owner's lock away. If another process did so first and holds the lock now, what we moved is its lock:
 * put it back.
 */
async function remove(file: string, stale: string): Promise<void> {
  const aside = `${file}.${process.pid}.stale`
  try {
    await rename(file, aside)
    if ((await readFile(aside, 'utf8')) !== stale) await link(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    await rm(aside, { force: true })
  }
}

async function release(file: string, mine: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => '')) === mine) await rm(file, { force: true })
}

function parse(content: string): Owner | null {
  try {
    return JSON.parse(content) as Owner
  } catch {
    return null
  }
}

const ownerOf = (pid: number): Owner => ({ pid, startedAt: startOf(pid) })

/** Linux: start time in clock ticks since boot, field 22 of /proc/pid/stat (the name in field 2 may hold spaces). */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return owner.startedAt === null || owner.startedAt === startOf(owner.pid)
}
