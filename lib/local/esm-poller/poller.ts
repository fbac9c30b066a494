import { type Clock, systemClock, systemRandom } from '../../clock.ts'
import { createCluster } from '../../kafka/kafka-cluster.ts'
import { createKafkaTransport } from '../../kafka/kafkajs-transport.ts'
import { Batcher } from './batcher.ts'
import { Chaos } from './chaos.ts'
import { Delivery } from './delivery.ts'
import { PartitionSource } from './partition-source.ts'
import { emptyStats, type MutableStats, type PollerStats } from './poller-event.ts'
import { type PollerOptions, type PollerSettings, pollerSettings } from './poller-options.ts'

export interface Poller {
  stats(): PollerStats
  /** Partitions of each member, as the last rebalance gave them. */
  assignment(): readonly (readonly number[])[]
  /** No new invocation begins until `resume`; membership and reading go on. */
  pause(): void
  resume(): void
  /** More or fewer members: partitions move while invocations run. */
  scale(pollers: number): Promise<void>
  /** Default 'wait': running invocations end first, and commit if they succeed. 'abandon' leaves them running. */
  stop(running?: 'wait' | 'abandon'): Promise<void>
}

/**
 * An event source mapping on one machine: a real consumer group that delivers a topic to a function by the documented
 * rules of AWS Lambda. At least once: a batch is delivered until it succeeds, and a partition that moves is delivered by
 * its new owner from the last commit on while the old owner's invocation still runs.
 *
 * Resolves when all members have their first assignment.
 * @throws RelayError CONFIG_INVALID, TOPIC_MISSING, BROKER_UNAVAILABLE, AUTHENTICATION_FAILED
 * @example
 * const poller = await startPoller({
 *   brokers: kafka.brokers, topic: 'flights', group: 'esm-delays',
 *   function: (event) => host.invoke('delays', event),
 * })
 */
export async function startPoller(options: PollerOptions): Promise<Poller> {
  const poller = new LocalPoller(options)
  try {
    await poller.scale(poller.settings.pollers)
  } catch (error) {
    await poller.stop()
    throw error
  }
  return poller
}

interface Thread {
  readonly source: PartitionSource
  readonly batcher: Batcher
  readonly delivery: Delivery
  stop(): Promise<void>
}

class LocalPoller implements Poller {
  readonly settings: PollerSettings
  readonly #options: PollerOptions
  readonly #clock: Clock
  readonly #stats: MutableStats = emptyStats()
  readonly #threads: Thread[] = []
  #started = 0
  #paused = false

  constructor(options: PollerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.settings = pollerSettings(options)
  }

  stats(): PollerStats {
    return { ...this.#stats }
  }

  assignment(): readonly (readonly number[])[] {
    return this.#threads.map(({ source }) => source.queues().map(({ partition }) => partition))
  }

  pause(): void {
    this.#pause(true)
  }

  resume(): void {
    this.#pause(false)
  }

  async scale(pollers: number): Promise<void> {
    const surplus = this.#threads.splice(pollers)
    await Promise.all(surplus.map((thread) => thread.stop()))
    const missing = Array.from({ length: pollers - this.#threads.length }, () => this.#startThread())
    await Promise.all(missing)
  }

  async stop(running: 'wait' | 'abandon' = 'wait'): Promise<void> {
    if (running === 'abandon') for (const { delivery } of this.#threads) delivery.abandon()
    await this.scale(0)
  }

  #pause(paused: boolean): void {
    this.#paused = paused
    for (const { batcher } of this.#threads) batcher.pause(paused)
  }

  async #startThread(): Promise<void> {
    const poller = this.#started++
    const { settings } = this
    const { brokers, connection, chaos: chaosOptions = { seed: 0 } } = this.#options
    const [clock, stats] = [this.#clock, this.#stats]
    const transport = createKafkaTransport({ clientId: `fencepost-esm-${poller}`, brokers, ...connection }, clock)
    const cluster = createCluster(transport, clock, systemRandom)
    const source = new PartitionSource(cluster, settings, poller, stats)
    await source.lookUpTopic().catch(async (error) => {
      await cluster.close()
      throw error
    })
    const chaos = new Chaos(chaosOptions, poller)
    const batcher = new Batcher(source, settings, chaos, clock, stats)
    batcher.pause(this.#paused)
    const delivery = new Delivery({ poller, source, batcher, settings, chaos, clock, stats })
    this.#threads.push(runThread(source, batcher, delivery, () => cluster.close()))
    await source.assigned()
  }
}

/** Delivery ends first: what it has to commit needs the membership. */
function runThread(source: PartitionSource, batcher: Batcher, delivery: Delivery, close: () => Promise<void>): Thread {
  const delivering = new AbortController()
  const reading = new AbortController()
  const delivered = delivery.run(delivering.signal)
  const read = source.run(reading.signal)
  return {
    source,
    batcher,
    delivery,
    async stop() {
      delivering.abort()
      await delivered
      reading.abort()
      await read
      await close()
    },
  }
}
