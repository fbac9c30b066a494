import { join, relative } from 'node:path'
import { type Clock, deadlineIn } from '../../clock.ts'
import { messageOf } from '../../errors.ts'
import type { FenceStore } from '../../fencing/fence-store.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { commitGroup } from '../../transaction/ids.ts'
import type { Trigger } from '../bundle.ts'
import { deployRelay, functionLogDir } from '../deploy-relay.ts'
import type { InvokeResult } from '../lambda-host/invoke-result.ts'
import type { LambdaHost } from '../lambda-host/lambda-host.ts'
import { type Schedule, startSchedule } from '../schedule.ts'
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
  /** How often the sweep rings. */
  readonly sweepEveryMs: number
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

/** One relay: deployed with its sweep, rung, and deployed anew whenever its files change. */
export class DevRelay {
  readonly #its: DevPlace
  readonly #path: string
  readonly #functionName: string
  readonly #sweepName: string
  readonly #watch: FileWatch
  readonly #news: RelayNews
  readonly #sweepNews: RelayNews
  readonly #running = new Set<Promise<InvokeResult>>()
  #module: RelayModule
  #generation = 0
  #ringer: Ringer | null = null
  #sweeps: Schedule | null = null
  #changed: string | null = null
  #redeploying: Promise<void> | null = null
  #halted = false

  /** @param path as the user gave it */
  constructor(place: DevPlace, path: string, module: RelayModule) {
    this.#its = place
    this.#path = path
    this.#module = module
    this.#functionName = module.relay.name
    this.#sweepName = `${this.#functionName}--sweep`
    this.#watch = new FileWatch((file) => this.#noteChange(file))
    this.#news = this.#newsOf(this.#functionName, place.settings.ringing.trigger === 'pull', '')
    this.#sweepNews = this.#newsOf(this.#sweepName, true, 'sweep: ')
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
    const { sweepEveryMs: everyMs } = this.#its.settings
    const sweep = () => this.#invoke(this.#sweepName, this.#sweepNews, {})
    this.#sweeps = startSchedule({ everyMs, firstAfterMs: everyMs, invoke: sweep })
    this.#watch.follow(this.#module.files)
    this.#noteChange(this.#path) // they may have changed since they were read
  }

  /** No further invocation, no further deployment. Resolves when what runs has ended. */
  async halt(): Promise<void> {
    this.#halted = true
    this.#watch.close()
    this.#ringer?.halt()
    void this.#sweeps?.stop()
    await this.#redeploying
    await Promise.allSettled(this.#running)
  }

  /** When the host has stopped. */
  async end(): Promise<void> {
    await this.#redeploying
    await this.#ringer?.stop()
    await this.#sweeps?.stop()
    await this.#news.end()
    await this.#sweepNews.end()
  }

  async #deploy(module: RelayModule): Promise<void> {
    const generation = nextGeneration(join(this.#its.stack.dataDir, 'generations', this.#functionName))
    const { trigger } = this.#its.settings.ringing
    await this.#deployFunction(this.#functionName, trigger === 'event' ? 'relay' : 'pull', generation)
    await this.#deployFunction(this.#sweepName, 'sweep', generation)
    this.#generation = generation
    this.#module = module
  }

  async #deployFunction(functionName: string, trigger: Trigger, generation: number): Promise<void> {
    const { host, stack, settings, workDir } = this.#its
    const { prefix, timeoutMs, memoryMb, env } = settings
    const bundleDir = join(workDir, functionName, String(generation))
    const module = this.#path
    const plan = { functionName, module, trigger, prefix, bundleDir, timeoutMs, memoryMb, generation, env }
    await deployRelay(host, stack, plan)
  }

  async #connect(): Promise<void> {
    const { stack, settings } = this.#its
    const { name, sourceTopic } = this.#module.relay
    await this.#ringer?.stop()
    this.#ringer = await startRinger(settings.ringing, {
      brokers: stack.brokers,
      topic: sourceTopic,
      group: `${commitGroup(settings.prefix, name)}.event-source-mapping`,
      invoke: (event) => this.#invoke(this.#functionName, this.#news, event),
      trouble: (message) => this.#say(message),
    })
    if (this.#halted) this.#ringer.halt()
  }

  async #invoke(functionName: string, news: RelayNews, event: unknown): Promise<InvokeResult> {
    const invocation = this.#its.host.invoke(functionName, event)
    this.#running.add(invocation)
    try {
      const result = await invocation
      news.note(result)
      return result
    } finally {
      this.#running.delete(invocation)
    }
  }

  #newsOf(functionName: string, quietWhenIdle: boolean, about: string): RelayNews {
    const { clock, stack } = this.#its
    return new RelayNews({
      quietWhenIdle,
      clock,
      stopOf: (lane) => this.#stopOf(lane),
      logOf: (container) => join(functionLogDir(stack), `${functionName}-${container}.log`),
      say: (line) => this.#say(`${about}${line}`),
    })
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
