import { join, relative } from 'node:path'
import { type Clock, deadlineIn } from '../../clock.ts'
import { messageOf } from '../../errors.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { commitGroup } from '../../transaction/ids.ts'
import { deployRelay, functionLogDir } from '../deploy-relay.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { LambdaHost } from '../lambda-host/lambda-host.ts'
import type { Stack } from '../stack.ts'
import { ensureTopics } from './dev-topics.ts'
import { FileWatch } from './file-watch.ts'
import { nextGeneration } from './generation.ts'
import { type RelayModule, readRelayModule } from './relay-module.ts'
import type { RelayNames } from './relay-names.ts'
import { RelayNews } from './relay-news.ts'
import { type Ringer, type Ringing, startRinger } from './ringer.ts'

/** How the relays of one run are deployed and rung. */
export interface DevSettings {
  readonly prefix: string
  readonly ringing: Ringing
  readonly timeoutMs: number
  readonly memoryMb: number
  /** For the functions, secrets included. */
  readonly env: Readonly<Record<string, string>>
  /** Topics that do not exist are made with so many partitions; null: are refused. */
  readonly topicPartitions: number | null
}

/** What the relays of one run share. */
export interface DevPlace {
  readonly stack: Stack
  readonly host: LambdaHost
  readonly cluster: Cluster
  readonly fences: FenceStore
  readonly names: RelayNames
  readonly settings: DevSettings
  /** For bundles; deleted at the next start. */
  readonly workDir: string
  readonly clock: Clock
  say(line: string): void
}

/** Writers take a moment to write a file. */
const settleMs = 100
const readTimeoutMs = 5_000

/** One relay: deployed, rung, and deployed anew whenever its files change. */
export class DevRelay {
  readonly #its: DevPlace
  readonly #path: string
  readonly #functionName: string
  readonly #watch: FileWatch
  readonly #news: RelayNews
  readonly #running = new Set<Promise<InvokeResult>>()
  #module: RelayModule
  #generation = 0
  #ringer: Ringer | null = null
  #changed: string | null = null
  #redeploying: Promise<void> | null = null
  #halted = false

  /** @param path as the user gave it */
  constructor(place: DevPlace, path: string, module: RelayModule) {
    this.#its = place
    this.#path = path
    this.#module = module
    this.#functionName = module.relay.name
    this.#watch = new FileWatch((file) => this.#noteChange(file))
    this.#news = new RelayNews({
      quietWhenIdle: place.settings.ringing.trigger === 'pull',
      clock: place.clock,
      stopOf: (lane) => this.#stopOf(lane),
      logOf: (container) => join(functionLogDir(place.stack), `${this.#functionName}-${container}.log`),
      say: (line) => this.#say(line),
    })
  }

  get path(): string {
    return this.#path
  }

  get relay(): RelayModule['relay'] {
    return this.#module.relay
  }

  get functionName(): string {
    return this.#functionName
  }

  get generation(): number {
    return this.#generation
  }

  /** Deploys it, connects what rings it, and follows its files from now on. */
  async start(): Promise<void> {
    await this.#deploy(this.#module)
    await this.#connect()
    this.#watch.follow(this.#module.files)
    this.#noteChange(this.#path) // they may have changed since they were read
  }

  /** No further invocation, no further deployment. Resolves when what runs has ended. */
  async halt(): Promise<void> {
    this.#halted = true
    this.#watch.close()
    this.#ringer?.halt()
    await this.#redeploying
    await Promise.allSettled(this.#running)
  }

  /** When the host has stopped. */
  async end(): Promise<void> {
    await this.#redeploying
    await this.#ringer?.stop()
    await this.#news.end()
  }

  async #deploy(module: RelayModule): Promise<void> {
    const { host, stack, settings, workDir } = this.#its
    const { prefix, ringing, timeoutMs, memoryMb, env } = settings
    const generation = nextGeneration(join(stack.dataDir, 'generations', this.#functionName))
    await deployRelay(host, stack, {
      functionName: this.#functionName,
      module: this.#path,
      trigger: ringing.trigger === 'event' ? 'relay' : 'pull',
      prefix,
      bundleDir: join(workDir, this.#functionName, String(generation)),
      timeoutMs,
      memoryMb,
      generation,
      env,
    })
    this.#generation = generation
    this.#module = module
  }

  async #connect(): Promise<void> {
    const { stack, settings } = this.#its
    const { name, sourceTopic } = this.#module.relay
    await this.#ringer?.stop()
    this.#ringer = await startRinger(settings.ringing, {
      brokers: stack.brokers,
      topic: sourceTopic,
      group: `${commitGroup(settings.prefix, name)}.event-source-mapping`,
      invoke: (event) => this.#invoke(event),
      trouble: (message) => this.#say(message),
    })
    if (this.#halted) this.#ringer.halt()
  }

  async #invoke(event: unknown): Promise<InvokeResult> {
    const invocation = this.#its.host.invoke(this.#functionName, event)
    this.#running.add(invocation)
    try {
      const result = await invocation
      this.#news.note(result)
      return result
    } finally {
      this.#running.delete(invocation)
    }
  }

  #noteChange(file: string): void {
    this.#changed = file
    this.#redeploying ??= this.#redeployWhileChanged()
  }

  async #redeployWhileChanged(): Promise<void> {
    for (let file = this.#changed; file !== null && !this.#halted; file = this.#changed) {
      await this.#its.clock.sleep(settleMs)
      this.#changed = null
      await this.#redeploy(file).catch((error) => {
        this.#say(`not deployed, generation ${this.#generation} goes on: ${messageOf(error)}`)
      })
    }
    this.#redeploying = null
  }

  /** The bundle's own name for its content tells a real change from a file that was only touched. */
  async #redeploy(file: string): Promise<void> {
    const { cluster, settings, workDir, names } = this.#its
    const before = this.#module
    const module = await readRelayModule(this.#path, workDir)
    this.#watch.follow(module.files)
    if (module.sha256 === before.sha256) return
    names.claim(this.#path, module.relay.name)
    for (const name of await ensureTopics(cluster, [module.relay], settings.topicPartitions)) this.#say(`made ${name}`)
    await this.#deploy(module)
    this.#say(`generation ${this.#generation} is deployed, ${fromHere(file)} has changed`)
    const [was, is] = [before.relay, module.relay]
    if (was.name !== is.name || was.sourceTopic !== is.sourceTopic) await this.#connect()
  }

  async #stopOf(lane: string) {
    const { fences, clock } = this.#its
    return (await fences.read(lane, deadlineIn(clock, readTimeoutMs)))?.stopped ?? null
  }

  #say(line: string): void {
    this.#its.say(`${this.#module.relay.name}: ${line}`)
  }
}

function fromHere(file: string): string {
  const path = relative('.', file)
  return path.startsWith('..') ? file : path
}
