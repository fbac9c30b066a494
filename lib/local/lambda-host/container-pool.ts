import { join } from 'node:path'
import type { Clock, Random } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import { Container } from './container.ts'
import type { FunctionSpec } from './function-spec.ts'
import { errorOf, type InvocationEnd, type InvokeResult, reportLine, resultOf, throttled } from './invoke-result.ts'

/** The containers of one function: whom to give an invocation, when to start another, when to refuse. */
export class ContainerPool {
  spec: FunctionSpec
  readonly #logDir: string
  readonly #clock: Clock
  readonly #random: Random
  readonly #alive = new Set<Container>()
  /** Frozen and of the present generation, least recently used first. */
  readonly #free: Container[] = []
  #lastUsed: Container | null = null
  readonly #running = new Set<Promise<InvokeResult>>()
  #stopped = false

  constructor(spec: FunctionSpec, logDir: string, clock: Clock, random: Random) {
    this.spec = spec
    this.#logDir = logDir
    this.#clock = clock
    this.#random = random
  }

  containers(): readonly Container[] {
    return [...this.#alive].filter((container) => container.state !== 'gone')
  }

  async invoke(requestId: string, payload: Buffer): Promise<InvokeResult> {
    if (this.#running.size >= this.spec.maxConcurrency || this.#stopped) {
      return throttled(requestId, this.spec.name, this.spec.maxConcurrency)
    }
    const warm = this.#takeFree()
    const result = warm ? this.#run(warm, requestId, payload, null) : this.#runCold(requestId, payload)
    this.#running.add(result)
    return result.finally(() => this.#running.delete(result))
  }

  async warm(count: number): Promise<void> {
    const missing = Math.max(0, count - this.#free.length)
    const ends = await Promise.all(Array.from({ length: missing }, () => this.#startFree()))
    const failure = ends.find((end) => end !== null)
    if (!failure) return
    const reason = errorOf(failure, 'warm-up')?.errorMessage
    throw new RelayError(
      'LOCAL_STACK',
      `A container of ${this.spec.name} did not start: ${reason}. See its log in ${this.#logDir}.`,
    )
  }

  /** Free containers of the old generation end now, busy ones after their invocation. */
  async replace(spec: FunctionSpec): Promise<void> {
    this.spec = spec
    await Promise.all(this.#free.splice(0).map((container) => this.#end(container)))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([...this.#alive].map((container) => this.#end(container)))
    await Promise.allSettled(this.#running)
  }

  async #runCold(requestId: string, payload: Buffer): Promise<InvokeResult> {
    const startedAtMs = this.#clock.now()
    const container = this.#newContainer()
    const failure = await container.start()
    const initDurationMs = Math.max(1, this.#clock.now() - startedAtMs)
    if (failure === null) return this.#run(container, requestId, payload, initDurationMs)
    this.#alive.delete(container)
    return initFailure(container, failure, requestId, initDurationMs)
  }

  async #run(container: Container, requestId: string, payload: Buffer, initMs: number | null): Promise<InvokeResult> {
    this.#lastUsed = container
    const { end, report } = await container.invoke(requestId, payload, initMs)
    if (container.state === 'frozen' && container.spec === this.spec && !this.#stopped) this.#free.push(container)
    else await this.#end(container)
    return resultOf(end, report)
  }

  async #startFree(): Promise<InvocationEnd | null> {
    const container = this.#newContainer()
    const failure = await container.start()
    if (failure === null) this.#free.push(container)
    else this.#alive.delete(container)
    return failure
  }

  #newContainer(): Container {
    const id = this.#random.id()
    const container = new Container(id, this.spec, join(this.#logDir, `${this.spec.name}-${id}.log`), this.#clock)
    this.#alive.add(container)
    return container
  }

  /** A container may have been killed while it was frozen. */
  #takeFree(): Container | undefined {
    for (let index = this.#free.length - 1; index >= 0; index--) {
      if (this.#free[index]?.state === 'frozen') continue
      for (const dead of this.#free.splice(index, 1)) this.#alive.delete(dead)
    }
    if (!this.spec.hop) return this.#free.pop()
    const other = this.#free.findIndex((container) => container !== this.#lastUsed)
    return other === -1 ? undefined : this.#free.splice(other, 1)[0]
  }

  async #end(container: Container): Promise<void> {
    await container.end()
    this.#alive.delete(container)
  }
}

function initFailure(container: Container, end: InvocationEnd, requestId: string, initMs: number): InvokeResult {
  const figures = { requestId, containerId: container.id, initDurationMs: initMs, durationMs: 1, maxMemoryUsedBytes: 0 }
  container.log.append(
    `INIT_REPORT Init Duration: ${initMs} ms\tPhase: init\tStatus: error\n${reportLine(figures, container.spec.memoryMb)}`,
  )
  return resultOf(end, { ...figures, cold: true, billedDurationMs: initMs, logTail: container.log.tail(0) })
}
