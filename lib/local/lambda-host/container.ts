import { extname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { type SupervisedProcess, startSupervised } from '../supervised-process.ts'
import { containerEnv, type FunctionSpec } from './function-spec.ts'
import { type InvocationEnd, type InvokeReport, reportLine } from './invoke-result.ts'
import { LogFile } from './log-file.ts'
import { exceedsMemory, memoryUse } from './memory.ts'
import { nodeFlags } from './node-flags.ts'
import { RuntimeApi } from './runtime-api.ts'

/**
 * starting: its process loads the function. busy: it works on an invocation. frozen: stopped by SIGSTOP until the next
 * one; no timer fires, no packet is answered. gone: the process has ended and never comes back.
 */
export type ContainerState = 'starting' | 'busy' | 'frozen' | 'gone'

export interface InvocationOutcome {
  readonly end: InvocationEnd
  readonly report: InvokeReport
}

type PhaseEnd = InvocationEnd | { readonly kind: 'ready' }

const bootstrap = join(import.meta.dirname, `runtime-client${extname(import.meta.filename)}`)
const initTimeoutMs = 10_000
const mebibyte = 1024 * 1024

/** One container: one process, one invocation at a time, frozen in between. */
export class Container {
  readonly id: string
  readonly spec: FunctionSpec
  readonly log: LogFile
  state: ContainerState = 'starting'
  invocations = 0
  readonly #clock: Clock
  #process: SupervisedProcess | undefined
  #api: RuntimeApi | undefined
  #running: string | null = null
  #asksForWork = false
  #ended = false
  #exit: InvocationEnd | null = null
  #endPhase: (end: PhaseEnd) => void = () => undefined

  constructor(id: string, spec: FunctionSpec, logPath: string, clock: Clock) {
    this.id = id
    this.spec = spec
    this.log = new LogFile(logPath)
    this.#clock = clock
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  /** Starts the process and waits until it asks for work, then freezes it. null: ready; else why it never will be. */
  async start(): Promise<InvocationEnd | null> {
    this.#api = await this.#openApi()
    this.#process = await startSupervised({
      command: process.execPath,
      args: [...nodeFlags(this.spec.memoryMb), bootstrap],
      cwd: this.spec.taskRoot,
      env: containerEnv(this.spec, this.#api.address, this.id),
      logFile: this.log.path,
    })
    this.#noteExit(this.#process)
    if (this.#ended) this.signal('SIGKILL')
    const end = this.#asksForWork ? ({ kind: 'ready' } as const) : await this.#phase(initTimeoutMs)
    if (end.kind === 'ready') this.#freeze()
    else await this.end()
    return end.kind === 'ready' ? null : end
  }

  /**
   * Thaws the process, hands it the invocation and waits for its end: an answer, an error, its death, the timeout or
   * the memory limit. Resolves when the process is frozen again or gone, so that the next caller can have it.
   */
  async invoke(requestId: string, payload: string | Buffer, initDurationMs: number | null): Promise<InvocationOutcome> {
    const startedAtMs = this.#clock.now()
    const logFrom = this.log.bytes
    this.log.append(`START RequestId: ${requestId} Version: $LATEST`)
    const end = await this.#work(requestId, payload, startedAtMs + this.spec.timeoutMs)
    const durationMs = Math.max(1, this.#clock.now() - startedAtMs)
    const maxMemoryUsedBytes = memoryUse(this.pid).peakBytes
    await this.#settleDown(end, startedAtMs + this.spec.timeoutMs)
    const figures = { requestId, containerId: this.id, initDurationMs, durationMs, maxMemoryUsedBytes }
    this.log.append(`END RequestId: ${requestId}\n${reportLine(figures, this.spec.memoryMb)}`)
    const billedDurationMs = durationMs + (initDurationMs ?? 0)
    const report = { ...figures, cold: initDurationMs !== null, billedDurationMs, logTail: this.log.tail(logFrom) }
    return { end, report }
  }

  /**
   * Any signal at any time; SIGKILL surfaces as Runtime.ExitError to the caller of a running invocation. Sent straight
   * to the process: by way of the supervisor it would arrive when the caller already takes the container for frozen.
   */
  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL' && this.state === 'frozen') this.state = 'gone'
    if (!this.#process?.running) return
    try {
      process.kill(this.#process.pid, signal)
    } catch {
      // It has just exited; the supervisor is about to say so.
    }
  }

  /** Kills the process, also one that is just being started, and waits until it is gone. */
  async end(): Promise<void> {
    this.#ended = true
    this.signal('SIGKILL')
    await this.#process?.exited()
    this.state = 'gone'
    this.#api?.close()
  }

  #openApi(): Promise<RuntimeApi> {
    return RuntimeApi.listen({
      ready: () => {
        this.#asksForWork = true
        this.#endPhase({ kind: 'ready' })
      },
      answered: (requestId, body) => this.#answer(requestId, { kind: 'answered', body }),
      failed: (requestId, error) => this.#answer(requestId, { kind: 'failed', error }),
      initFailed: (error) => this.#endPhase({ kind: 'failed', error }),
    })
  }

  #noteExit(process: SupervisedProcess): void {
    process.exited().then(({ code, signal }) => {
      this.#exit = { kind: 'exited', code, signal }
      this.#endPhase(this.#exit)
      this.state = 'gone'
      this.#api?.close()
    })
  }

  async #work(requestId: string, payload: string | Buffer, deadlineAtMs: number): Promise<InvocationEnd> {
    this.state = 'busy'
    this.invocations++
    this.#running = requestId
    this.#asksForWork = false
    const end = this.#phase(this.spec.timeoutMs)
    this.signal('SIGCONT')
    this.#api?.give({ requestId, arn: this.spec.arn, deadlineAtMs, payload })
    const ended = await end
    this.#running = null
    // Work was taken back unanswered: the runtime has lost its place.
    return ended.kind === 'ready' ? { kind: 'exited', code: 0, signal: null } : ended
  }

  #answer(requestId: string, end: InvocationEnd): void {
    if (this.#running === requestId) this.#endPhase(end)
  }

  /** Waits for what comes first: something that the process says, its end, the time limit, the memory limit. */
  async #phase(limitMs: number): Promise<PhaseEnd> {
    const phase = Promise.withResolvers<PhaseEnd>()
    const over = new AbortController()
    this.#endPhase = phase.resolve
    if (this.#exit !== null) phase.resolve(this.#exit)
    this.#clock.sleep(limitMs, over.signal).then(
      () => phase.resolve({ kind: 'timed-out', timeoutMs: limitMs }),
      () => undefined,
    )
    exceedsMemory(this.pid, this.spec.memoryMb * mebibyte, this.#clock, over.signal).then((exceeded) => {
      if (exceeded) phase.resolve({ kind: 'out-of-memory' })
    })
    const end = await phase.promise
    over.abort()
    return end
  }

  /** Lambda freezes a container when its runtime asks for the next invocation, not when it has answered. */
  async #settleDown(end: InvocationEnd, deadlineAtMs: number): Promise<void> {
    const answered = end.kind === 'answered' || end.kind === 'failed'
    if (answered && !this.#asksForWork) await this.#phase(Math.max(1, deadlineAtMs - this.#clock.now()))
    if (answered && this.#asksForWork && this.#exit === null) this.#freeze()
    else await this.end()
  }

  #freeze(): void {
    this.signal('SIGSTOP')
    this.state = 'frozen'
  }
}
