import { systemClock, systemRandom } from '../../clock.ts'
import { CommittedPosition } from '../committed-position.ts'
import { type Poller, startPoller } from '../esm-poller/poller.ts'
import { laneHolders } from '../lane-holders.ts'
import { Feed, type FeedCounts } from './feed.ts'
import { Killer } from './killer.ts'
import { LogCounter } from './log-counter.ts'
import type { DemoProgress } from './progress.ts'
import { group, lanes, relay, sourcePartitions } from './relay-deployment.ts'
import type { SetUp } from './set-up.ts'

export interface RelayFlightsOptions {
  /** The flights arrive spread over so long. */
  readonly arrivalMs: number
  /** Containers killed per minute; 0: none. */
  readonly killsPerMinute: number
  readonly signal: AbortSignal
  progress(progress: DemoProgress): void
}

export interface Relayed {
  readonly last: DemoProgress
  /** What the feed wrote, by what must become of it. */
  readonly fed: FeedCounts
  /** Records of each output topic as a read_committed reader counted them meanwhile. */
  readonly seen: ReadonlyMap<string, number>
  /** The largest memory of any container. */
  readonly containerBytesMax: number
}

const batchSize = 1_000
const batchingWindowMs = 100
const tellEveryMs = 100
/** Without any progress for so long, waiting longer makes no sense: the proof says what is missing. */
const patienceMs = 30_000

/**
 * Flights arrive, functions relay them, containers are killed in the middle of it. Resolves when all flights have
 * arrived and the relay has committed all of them, or got nowhere for 30 s.
 */
export async function relayFlights(setUp: SetUp, options: RelayFlightsOptions): Promise<Relayed> {
  return new FlightRelaying(setUp, options).run()
}

class FlightRelaying {
  readonly #its: SetUp
  readonly #options: RelayFlightsOptions
  readonly #feed: Feed
  readonly #killer: Killer
  readonly #position: CommittedPosition
  readonly #uncommitted: LogCounter
  readonly #committed: LogCounter
  readonly #beganMs = systemClock.now()
  #poller: Poller | null = null
  #containerBytesMax = 0

  constructor(its: SetUp, options: RelayFlightsOptions) {
    this.#its = its
    this.#options = options
    const plan = { topic: relay.sourceTopic, partitions: sourcePartitions, durationMs: options.arrivalMs }
    this.#feed = new Feed(its.connect('demo-feed'), its.flights, plan)
    this.#killer = new Killer({
      host: its.deployment.host,
      perMinute: options.killsPerMinute,
      holders: () => laneHolders(its.fences, lanes),
      clock: systemClock,
      random: systemRandom,
    })
    this.#position = new CommittedPosition(its.connect('demo-position'), {
      group,
      topic: relay.sourceTopic,
      partitions: sourcePartitions,
    })
    this.#uncommitted = new LogCounter(its.connect('demo-uncommitted'), relay.outputTopics, 'read_uncommitted')
    this.#committed = new LogCounter(its.connect('demo-committed'), relay.outputTopics, 'read_committed')
  }

  async run(): Promise<Relayed> {
    const failed = new AbortController()
    const over = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, failed.signal])
    const watchers = [this.#position, this.#uncommitted, this.#committed].map((one) => one.run(over.signal))
    for (const watcher of watchers) watcher.catch((error) => failed.abort(error))
    try {
      this.#poller = await this.#startPoller()
      const telling = this.#tell(over.signal)
      await this.#feedAndKill(signal)
      await this.#drain(signal)
      await this.#poller.stop()
      over.abort()
      await Promise.all([...watchers, telling])
      return this.#result()
    } catch (error) {
      over.abort()
      await this.#poller?.stop('abandon')
      throw error
    }
  }

  #startPoller(): Promise<Poller> {
    return startPoller({
      brokers: this.#its.stack.brokers,
      topic: relay.sourceTopic,
      group: 'demo-event-source-mapping',
      pollers: sourcePartitions,
      batchSize,
      batchingWindowMs,
      function: async (event) => {
        const result = await this.#its.deployment.invoke(event)
        this.#killer.note(result)
        if ('maxMemoryUsedBytes' in result) {
          this.#containerBytesMax = Math.max(this.#containerBytesMax, result.maxMemoryUsedBytes)
        }
        return result
      },
    })
  }

  async #feedAndKill(signal: AbortSignal): Promise<void> {
    const fed = new AbortController()
    const killing = this.#killer.run(AbortSignal.any([signal, fed.signal]))
    try {
      await this.#feed.run(systemRandom, signal)
    } finally {
      fed.abort()
      await killing
    }
  }

  async #drain(signal: AbortSignal): Promise<void> {
    let best = 0
    for (let movedMs = systemClock.now(); systemClock.now() - movedMs < patienceMs; ) {
      if (this.#position.relayed === this.#feed.sent) return
      if (this.#position.relayed > best) movedMs = systemClock.now()
      best = Math.max(best, this.#position.relayed)
      await systemClock.sleep(tellEveryMs, signal)
    }
  }

  async #tell(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#options.progress(this.#progress())
      await systemClock.sleep(tellEveryMs, signal).catch(() => undefined)
    }
  }

  #progress(): DemoProgress {
    const stats = this.#poller?.stats()
    return {
      seconds: (systemClock.now() - this.#beganMs) / 1_000,
      records: this.#its.flights.count,
      arrived: this.#feed.sent,
      relayed: this.#position.relayed,
      seenUncommitted: this.#uncommitted.records,
      seenCommitted: this.#committed.records,
      kills: this.#killer.fired,
      redeliveries: stats?.redelivered ?? 0,
      invocations: stats?.invocations ?? 0,
      windows: this.#uncommitted.transactions,
    }
  }

  #result(): Relayed {
    const last = this.#progress()
    this.#options.progress(last)
    return {
      last,
      fed: this.#feed.counts,
      seen: new Map(relay.outputTopics.map((topic) => [topic, this.#committed.recordsOf(topic)])),
      containerBytesMax: this.#containerBytesMax,
    }
  }
}
