/** A relay over modelled brokers and a fence table in memory, and processes that stop at whatever step a test wants. */
import { type Deadline, deadlineIn } from '../../lib/clock.ts'
import type { FenceStore } from '../../lib/fencing/fence-store.ts'
import { createMemoryFenceStore } from '../../lib/fencing/memory-fence-store.ts'
import { createCluster } from '../../lib/kafka/kafka-cluster.ts'
import { type LaneId, laneOf } from '../../lib/relay/lane-id.ts'
import type { RelayRuntime } from '../../lib/relay/runtime.ts'
import { ClusterModel } from '../../lib/testing/broker-model/cluster-model.ts'
import { ModelTransport } from '../../lib/testing/broker-model/model-transport.ts'
import { Life } from '../../lib/testing/life.ts'
import { committedRecords } from '../../lib/testing/output-log.ts'
import { seededRandom } from '../../lib/testing/seeded-random.ts'
import { writeToSource } from '../../lib/testing/source-writer.ts'
import { VirtualClock } from '../../lib/testing/virtual-clock.ts'
import { openIdempotentProducer } from '../../lib/transaction/idempotent-producer.ts'
import { copyAfter, type Gate, gate } from './gates.ts'

const names = { source: 'source', output: 'output', dead: 'dead' }
const topicNames = [...Object.values(names), 'repairs']
const prefix = 'model'
const leaseMs = 5_000

/** Where a process stops: before its nth request to a broker or the fence table has an effect, or after it, unheard. */
export interface StopPoint {
  readonly step: number
  readonly when: 'before' | 'after'
}

/** One process. `steps`: how many requests it has made. */
export interface ModelProcess {
  readonly runtime: RelayRuntime
  readonly steps: number
  /** Resolves when it has come to its stop point. */
  readonly reached: Promise<void>
  /** Lets a paused one go on. */
  goOn(): void
}

export interface ModelWorldOptions {
  /** What the transform does with a record's value before it copies it. */
  readonly before?: (value: string) => void
  /** Settings by topic: `source`, `output`, `dead`, `repairs`. */
  readonly topics?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Brokers. Default 1. */
  readonly nodes?: number
}

type SourceRecord = Parameters<typeof writeToSource<ModelWorld['relay']['source']>>[2][number]

export class ModelWorld {
  readonly clock = new VirtualClock()
  readonly model: ClusterModel
  readonly fences = createMemoryFenceStore()
  readonly relay: ReturnType<ReturnType<typeof copyAfter>>
  readonly #random = seededRandom(7)
  #produced = 0
  #processes = 0

  constructor(transactionVersion: 1 | 2, { before = () => {}, topics = {}, nodes = 1 }: ModelWorldOptions = {}) {
    this.relay = copyAfter(before)(names)
    this.model = new ClusterModel({ clock: this.clock, random: this.#random, transactionVersion, nodes })
    for (const name of topicNames) {
      this.model.createTopic({ name, partitions: 1, configs: { 'retention.ms': '-1', ...topics[name] } })
    }
  }

  get lane(): LaneId {
    return laneOf(0, 1, { prefix, relay: this.relay.name, topic: names.source, partitionsPerLane: 1 })
  }

  produce(count: number): string[] {
    const values = Array.from({ length: count }, () => `v${this.#produced++}`)
    for (const bytes of values) this.write({ bytes })
    return values
  }

  write(record: SourceRecord): void {
    writeToSource(this.model, this.relay.source, [record])
  }

  delivered(): string[] {
    return committedRecords(this.model, names.output).map(({ value }) => String(value))
  }

  within(ms: number): Deadline {
    return deadlineIn(this.clock, ms)
  }

  /** A process that dies, or waits to be let go on, at `stop`; one without goes on for ever. */
  async process(stop: StopPoint | null = null, how: 'dies' | 'pauses' = 'dies'): Promise<ModelProcess> {
    const life = new Life()
    const steps = new Steps(stop, how === 'dies' ? () => life.die() : null)
    const clock = life.clock(this.clock)
    const transport = new ModelTransport(this.model, {
      beforeRequest: () => steps.before().then(() => 'pass' as const),
      afterEffect: () => steps.after().then(() => 'pass' as const),
    })
    const cluster = createCluster(life.transport(transport), clock, this.#random)
    const running = await this.relay.start({ secret: async () => '', deadline: this.within(10_000), clock })
    const runtime: RelayRuntime = {
      relay: this.relay,
      running,
      cluster,
      fences: life.fences(counted(this.fences, steps)),
      openProducer: (deadline) => openIdempotentProducer(cluster, this.#random, deadline),
      settings: settings(`process-${++this.#processes}`),
      clock,
      random: this.#random,
      observer: {},
      warm: new Map(),
      batchBytesMax: new Map(),
    }
    return {
      runtime,
      get steps() {
        return steps.count
      },
      reached: steps.gate.reached,
      goOn: () => steps.gate.open(),
    }
  }

  run<T>(work: Promise<T>): Promise<T> {
    return this.clock.run(work)
  }

  /** So long that no lease lives any more. */
  async outliveLeases(): Promise<void> {
    await this.clock.advance(2 * leaseMs)
  }
}

class Steps {
  count = 0
  readonly gate: Gate = gate()
  readonly #stop: StopPoint | null
  readonly #die: (() => void) | null

  constructor(stop: StopPoint | null, die: (() => void) | null) {
    this.#stop = stop
    this.#die = die
  }

  async before(): Promise<void> {
    this.count++
    await this.#stopAt('before')
  }

  async after(): Promise<void> {
    await this.#stopAt('after')
  }

  async #stopAt(when: StopPoint['when']): Promise<void> {
    if (this.#stop?.step !== this.count || this.#stop.when !== when) return
    this.#die?.()
    await this.gate.pass()
  }
}

function counted(store: FenceStore, steps: Steps): FenceStore {
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    await steps.before()
    const result = await work()
    await steps.after()
    return result
  }
  return {
    ...store,
    read: (...args) => step(() => store.read(...args)),
    write: (...args) => step(() => store.write(...args)),
  }
}

const settings = (container: string) => ({
  prefix,
  transactionTimeoutMs: 60_000,
  functionTimeoutMs: 30_000,
  commitReserveMs: 500,
  leaseMs,
  renewEveryMs: 2_000,
  generation: 1,
  container,
  rack: '',
})
