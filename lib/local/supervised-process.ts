import { type ChildProcess, fork } from 'node:child_process'
import { extname, join } from 'node:path'
import { type Clock, systemClock } from '../clock.ts'
import { RelayError } from '../errors.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Gets stdout and stderr, appended. */
  readonly logFile: string
}

/** A child that is gone when this process is gone, whatever this process dies of. */
export interface SupervisedProcess {
  readonly pid: number
  readonly running: boolean
  /** Never rejects. Waiting for it keeps this process alive. */
  exited(): Promise<Exit>
  /** Delivered to this very process, never to a stranger that was given its pid; nothing once it has exited. */
  signal(signal: NodeJS.Signals): void
}

export type SupervisorOrder =
  | {
      readonly do: 'start'
      readonly id: number
      readonly command: string
      readonly args: readonly string[]
      readonly cwd?: string
      readonly env?: NodeJS.ProcessEnv
      readonly logFile: string
    }
  | { readonly do: 'signal'; readonly id: number; readonly signal: NodeJS.Signals }

export type SupervisorEvent =
  | { readonly is: 'started'; readonly id: number; readonly pid: number }
  | { readonly is: 'failed'; readonly id: number; readonly message: string }
  | ({ readonly is: 'exited'; readonly id: number } & Exit)

interface Entry {
  pid: number
  awaited: boolean
  exit: Exit | null
  started: PromiseWithResolvers<void>
  exited: PromiseWithResolvers<Exit>
}

/** One supervisor serves all children of this process; it is started with the first. */
class Supervisor {
  readonly #process: ChildProcess
  readonly #entries = new Map<number, Entry>()
  #nextId = 1
  alive = true

  constructor() {
    const script = join(import.meta.dirname, `supervisor${extname(import.meta.filename)}`)
    this.#process = fork(script, [], { detached: true, execArgv: [], stdio: 'ignore' })
    this.#process.on('message', (event: SupervisorEvent) => this.#note(event))
    this.#process.once('exit', () => this.#killOrphans())
    this.#process.once('error', () => this.#killOrphans())
    this.#process.unref()
    this.#holdParent()
  }

  async start(options: ProcessOptions): Promise<SupervisedProcess> {
    const id = this.#nextId++
    const entry: Entry = {
      pid: 0,
      awaited: true,
      exit: null,
      started: Promise.withResolvers(),
      exited: Promise.withResolvers(),
    }
    this.#entries.set(id, entry)
    this.#holdParent()
    this.#tell({ do: 'start', id, ...options })
    await entry.started.promise
    return {
      pid: entry.pid,
      get running() {
        return entry.exit === null
      },
      exited: () => this.#untilExit(entry),
      signal: (signal) => {
        if (entry.exit === null) this.#tell({ do: 'signal', id, signal })
      },
    }
  }

  #tell(order: SupervisorOrder): void {
    if (this.#process.connected) this.#process.send(order)
  }

  #note(event: SupervisorEvent): void {
    const entry = this.#entries.get(event.id)
    if (!entry) return
    if (event.is === 'started') {
      entry.pid = event.pid
      entry.awaited = false
      entry.started.resolve()
    } else if (event.is === 'failed') {
      this.#entries.delete(event.id)
      entry.started.reject(new RelayError('LOCAL_STACK', `A process did not start: ${event.message}.`))
    } else {
      this.#end(event.id, entry, { code: event.code, signal: event.signal })
    }
    this.#holdParent()
  }

  #end(id: number, entry: Entry, exit: Exit): void {
    this.#entries.delete(id)
    entry.exit = exit
    entry.exited.resolve(exit)
  }

  #untilExit(entry: Entry): Promise<Exit> {
    entry.awaited = true
    this.#holdParent()
    return entry.exited.promise
  }

  /** Children that nobody waits for must not keep this process alive; an answer that somebody waits for must. */
  #holdParent(): void {
    const awaited = [...this.#entries.values()].some((entry) => entry.awaited)
    if (awaited) this.#process.channel?.ref()
    else this.#process.channel?.unref()
  }

  /** The supervisor itself was killed: its children are ours to end, and their end can no longer be observed. */
  #killOrphans(): void {
    this.alive = false
    for (const [id, entry] of this.#entries) {
      if (entry.pid === 0)
        entry.started.reject(
          new RelayError('LOCAL_STACK', 'The process that supervises children did not start or was killed.'),
        )
      else killQuietly(entry.pid)
      this.#end(id, entry, { code: null, signal: 'SIGKILL' })
    }
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has exited already.
  }
}

let supervisor: Supervisor | undefined

/** @throws RelayError LOCAL_STACK when the command cannot be run at all. */
export function startSupervised(options: ProcessOptions): Promise<SupervisedProcess> {
  if (!supervisor?.alive) supervisor = new Supervisor()
  return supervisor.start(options)
}

/** SIGTERM, then SIGKILL after `graceMs`. A child frozen by SIGSTOP gets SIGCONT first, or it could not obey. */
export async function stopSupervised(
  child: SupervisedProcess,
  graceMs: number,
  clock: Clock = systemClock,
): Promise<Exit> {
  child.signal('SIGTERM')
  child.signal('SIGCONT')
  const done = new AbortController()
  const grace = clock.sleep(graceMs, done.signal).then(
    () => child.signal('SIGKILL'),
    () => undefined,
  )
  const exit = await child.exited()
  done.abort()
  await grace
  return exit
}
