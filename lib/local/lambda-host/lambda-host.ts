import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Clock, type Random, systemClock, systemRandom } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import { bundleFunction } from '../bundle.ts'
import type { ContainerState } from './container.ts'
import { ContainerPool } from './container-pool.ts'
import { type DeployOptions, type FunctionSpec, functionSpec } from './function-spec.ts'
import { type InvokeResult, payloadBytesMax, tooLarge } from './invoke-result.ts'

export interface LambdaHostOptions {
  /** Gets one log file per container. Default: a temporary folder, removed by `stop`. */
  readonly logDir?: string
  /** Default `eu-central-1`. */
  readonly region?: string
  readonly clock?: Clock
  readonly random?: Random
}

export interface ContainerInfo {
  readonly id: string
  readonly functionName: string
  readonly pid: number
  readonly state: ContainerState
  readonly invocations: number
  readonly generation: number
  readonly logFile: string
}

export interface LambdaHost {
  /**
   * Makes a function or replaces it: containers of an older generation finish what they work on and are never used
   * again. Resolves to what was decided. @throws RelayError CONFIG_INVALID
   */
  deploy(options: DeployOptions): Promise<FunctionSpec>
  /** Synchronous invocation. Never rejects for what the function does. @throws RelayError CONFIG_INVALID: no such function */
  invoke(name: string, event: unknown): Promise<InvokeResult>
  /** Starts containers until `count` are ready, as provisioned concurrency does. @throws RelayError LOCAL_STACK */
  warm(name: string, count: number): Promise<void>
  /** Those that are alive, oldest first. */
  containers(): readonly ContainerInfo[]
  /** Sends a signal to a container's process; false when it is gone already. */
  kill(containerId: string, signal: NodeJS.Signals): boolean
  /** Kills every container and waits until all processes are gone; running invocations end as Runtime.ExitError. */
  stop(): Promise<void>
}

/**
 * Lambda on one machine: the real bundle with its real entry point in a process per container, over Lambda's Runtime
 * API, with its limits, freezing and errors. No container outlives this process, whatever it dies of.
 *
 * @example
 * const host = createLambdaHost()
 * await host.deploy({ name: 'relay', code: { entry: 'functions/relay.ts' }, handler: 'relay.handler' })
 * const result = await host.invoke('relay', { eventSource: 'SelfManagedKafka', records: {} })
 * await host.stop()
 */
export function createLambdaHost(options: LambdaHostOptions = {}): LambdaHost {
  return new LocalLambdaHost(options)
}

class LocalLambdaHost implements LambdaHost {
  readonly #region: string
  readonly #clock: Clock
  readonly #random: Random
  readonly #pools = new Map<string, ContainerPool>()
  readonly #temporary: string[] = []
  #logDir: string | undefined

  constructor(options: LambdaHostOptions) {
    this.#region = options.region ?? 'eu-central-1'
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
    this.#logDir = options.logDir
  }

  async deploy(options: DeployOptions): Promise<FunctionSpec> {
    const known = this.#pools.get(options.name)
    const generation = options.generation ?? (known?.spec.generation ?? 0) + 1
    const spec = functionSpec(options, await this.#taskRoot(options), this.#region, generation)
    if (known) await known.replace(spec)
    else this.#pools.set(spec.name, new ContainerPool(spec, await this.#logs(), this.#clock, this.#random))
    return spec
  }

  async invoke(name: string, event: unknown): Promise<InvokeResult> {
    const pool = this.#pool(name)
    const requestId = this.#random.id()
    const payload = Buffer.from(JSON.stringify(event ?? null))
    if (payload.length > payloadBytesMax) return tooLarge(requestId, payload.length)
    return pool.invoke(requestId, payload)
  }

  warm(name: string, count: number): Promise<void> {
    return this.#pool(name).warm(count)
  }

  containers(): readonly ContainerInfo[] {
    return [...this.#pools.values()].flatMap((pool) =>
      pool.containers().map(({ id, pid, state, invocations, spec, log }) => {
        return { id, functionName: spec.name, pid, state, invocations, generation: spec.generation, logFile: log.path }
      }),
    )
  }

  kill(containerId: string, signal: NodeJS.Signals): boolean {
    const containers = [...this.#pools.values()].flatMap((pool) => pool.containers())
    const container = containers.find(({ id }) => id === containerId)
    container?.signal(signal)
    return container !== undefined
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.stop()))
    this.#pools.clear()
    await Promise.all(this.#temporary.map((dir) => rm(dir, { recursive: true, force: true })))
  }

  #pool(name: string): ContainerPool {
    const pool = this.#pools.get(name)
    if (pool) return pool
    const known = [...this.#pools.keys()].join(', ') || 'none'
    throw new RelayError('CONFIG_INVALID', `No function '${name}' is deployed; deployed: ${known}. Deploy it first.`)
  }

  async #taskRoot({ code }: DeployOptions): Promise<string> {
    if ('bundleDir' in code) return resolve(code.bundleDir)
    const dir = await this.#temporaryDir('function')
    await bundleFunction(code.entry, dir)
    return dir
  }

  async #logs(): Promise<string> {
    this.#logDir ??= await this.#temporaryDir('logs')
    await mkdir(this.#logDir, { recursive: true })
    return this.#logDir
  }

  async #temporaryDir(what: string): Promise<string> {
    const dir = await mkdtemp(join(tmpdir(), `fencepost-${what}-`))
    this.#temporary.push(dir)
    return dir
  }
}
