import { deadlineIn, type Random } from '../clock.ts'
import type { SchemaRegistry } from '../codecs/registry/schema-registry.ts'
import type { FenceStore } from '../fencing/fence-store.ts'
import { createCluster } from '../kafka/kafka-cluster.ts'
import type { Bell } from '../relay/bell.ts'
import type { CompiledRelay, RunningRelay } from '../relay/compiled-relay.ts'
import { type InvocationReport, runInvocation } from '../relay/invocation.ts'
import { silentObserver } from '../relay/observer.ts'
import type { EngineSettings, RelayRuntime } from '../relay/runtime.ts'
import { openIdempotentProducer } from '../transaction/idempotent-producer.ts'
import type { ClusterModel } from './broker-model/cluster-model.ts'
import { type Exchange, type Fate, ModelTransport } from './broker-model/model-transport.ts'
import { Life } from './life.ts'
import type { VirtualClock } from './virtual-clock.ts'

/**
 * Where a container dies.
 * - `transform`: the transform has run, nothing of it has left the process.
 * - `before-commit`: outputs and offsets are with the brokers, the commit is not.
 * - `after-commit`: the brokers have committed, and nobody is there to hear it.
 */
export type CrashPoint = 'transform' | 'before-commit' | 'after-commit'

/** What survives a container. */
export interface World {
  readonly clock: VirtualClock
  readonly random: Random
  readonly model: ClusterModel
  readonly fences: FenceStore
  readonly secrets: Readonly<Record<string, string>>
  readonly registry: SchemaRegistry
  readonly settings: EngineSettings
}

/** One warm container of the function: the real engine, on connections of its own to the modelled cluster. */
export class TestContainer {
  readonly life = new Life()
  private readonly runtime: RelayRuntime
  private readonly functionTimeoutMs: number
  private usersTurns = 0
  private crashPoint: CrashPoint | null = null
  private hasTransformed = false

  private constructor(relay: CompiledRelay, running: RunningRelay, world: World) {
    const { model, random, settings } = world
    const clock = this.life.clock(world.clock)
    const transport = this.life.transport(new ModelTransport(model, this))
    const cluster = createCluster(transport, clock, random)
    this.functionTimeoutMs = settings.functionTimeoutMs
    this.runtime = {
      relay,
      running: this.watched(running),
      cluster,
      fences: this.life.fences(world.fences),
      openProducer: (deadline) => openIdempotentProducer(cluster, random, deadline),
      settings,
      clock,
      random,
      observer: silentObserver,
      warm: new Map(),
      batchBytesMax: new Map(),
    }
  }

  /** A cold start: runs the relay's `setup`. */
  static async start(relay: CompiledRelay, world: World): Promise<TestContainer> {
    const { clock, secrets, registry, settings } = world
    const secret = async (name: string): Promise<string> => {
      const found = secrets[name]
      if (found === undefined)
        throw new Error(`no secret '${name}': give testRelay(relay, { secrets: { ${name}: ... } })`)
      return found
    }
    const deadline = deadlineIn(clock, settings.functionTimeoutMs)
    const running = await relay.start({ secret, registry, clock, deadline })
    return new TestContainer(relay, running, world)
  }

  /** While the user's code runs it may wait for something real. */
  get isInUsersHands(): boolean {
    return this.usersTurns > 0 && !this.life.isDead
  }

  dieAt(point: CrashPoint): void {
    this.crashPoint = point
  }

  /** One invocation; null when the container died in it. */
  async invoke(bell: Bell, requestId: string): Promise<InvocationReport | null> {
    const deadline = deadlineIn(this.runtime.clock, this.functionTimeoutMs)
    const run = runInvocation(this.runtime, bell, requestId, deadline)
    return Promise.race([run, this.life.ended.then(() => null)])
  }

  beforeRequest(exchange: Exchange): Fate {
    return this.diesAt('before-commit', exchange) ? 'cut' : 'pass'
  }

  afterEffect(exchange: Exchange): 'cut' | 'pass' {
    const dies = this.diesAt('after-commit', exchange)
    if (isCommit(exchange)) this.hasTransformed = false
    return dies ? 'cut' : 'pass'
  }

  /** Commits without a window, such as the very first of a lane, are not what a crash point means. */
  private diesAt(point: CrashPoint, exchange: Exchange): boolean {
    if (this.crashPoint !== point || !this.hasTransformed || !isCommit(exchange)) return false
    this.life.die()
    return true
  }

  private watched(running: RunningRelay): RunningRelay {
    return {
      transform: async (...args) => {
        this.usersTurns++
        try {
          const counts = await running.transform(...args)
          this.hasTransformed = true
          if (this.crashPoint === 'transform') this.life.die()
          return await this.life.guard(async () => counts)
        } finally {
          this.usersTurns--
        }
      },
    }
  }
}

const isCommit = ({ api, body }: Exchange): boolean =>
  api === 'EndTxn' && 'committed' in body && body.committed === true
