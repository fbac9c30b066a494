import type { Clock } from '../../clock.ts'
import { payloadBytesMax } from '../lambda-host/invoke-result.ts'
import type { Chaos } from './chaos.ts'
import { type Entry, envelopeBytes } from './event-encoding.ts'
import type { PartitionQueue } from './partition-queue.ts'
import type { PartitionSource } from './partition-source.ts'
import { type BatchLimits, planBatch } from './plan-batch.ts'
import type { MutableStats } from './poller-event.ts'
import type { PollerSettings } from './poller-options.ts'

/** What a batch holds of one partition. */
export interface Part {
  readonly queue: PartitionQueue
  readonly entries: readonly Entry[]
}

const idleMs = 60_000

/** Cuts what a source has read into batches by the mapping's rules: records, bytes, window. */
export class Batcher {
  readonly #source: PartitionSource
  readonly #settings: PollerSettings
  readonly #chaos: Chaos
  readonly #clock: Clock
  readonly #stats: MutableStats
  readonly #envelopeBytes: number
  #paused = false
  #rotation = 0
  /** For the next batch alone. */
  #cut: number | null = null

  constructor(source: PartitionSource, settings: PollerSettings, chaos: Chaos, clock: Clock, stats: MutableStats) {
    this.#source = source
    this.#settings = settings
    this.#chaos = chaos
    this.#clock = clock
    this.#stats = stats
    this.#envelopeBytes = envelopeBytes(settings.brokers.join(','))
  }

  pause(paused: boolean): void {
    this.#paused = paused
    this.#source.changed.notify()
  }

  /** The next batch is cut anew, so that what was put back comes in other batches than before. */
  cutNextAnew(): void {
    this.#cut = this.#chaos.smaller(this.#settings.batchSize)
  }

  /**
   * Waits for records, then for more of them until the batch is full or its window, which began with the oldest, is
   * over. `idle` is called each time there is nothing to deliver. null: aborted.
   */
  async next(signal: AbortSignal, idle: () => Promise<void>): Promise<readonly Part[] | null> {
    while (!signal.aborted) {
      const seen = this.#source.changed.version
      const queues = this.#queuesWithRecords()
      if (queues.length === 0 || this.#paused) {
        await idle()
        await this.#source.changed.after(seen, idleMs, this.#clock, signal)
        continue
      }
      const { counts, full } = planBatch(queues, this.#limits(this.#cut ?? this.#settings.batchSize))
      const oldestMs = Math.min(...queues.map(({ entries }) => entries[0]?.arrivedAtMs ?? 0))
      const restMs = oldestMs + this.#settings.batchingWindowMs - this.#clock.now()
      if (full || restMs <= 0) return this.#take(queues, counts)
      await this.#source.changed.after(seen, restMs, this.#clock, signal)
    }
    return null
  }

  /** Beginning with another partition each time, so that none waits behind a busy one. */
  #queuesWithRecords(): readonly PartitionQueue[] {
    const queues = this.#source.queues().filter(({ entries }) => entries.length > 0)
    const start = queues.length === 0 ? 0 : this.#rotation % queues.length
    return [...queues.slice(start), ...queues.slice(0, start)]
  }

  #take(queues: readonly PartitionQueue[], counts: readonly number[]): readonly Part[] {
    const reorder = this.#cut === null && this.#chaos.reorders()
    if (!reorder) return this.#cutOff(queues, counts)
    this.#stats.reorders++
    const shuffled = this.#chaos.shuffle(queues)
    const limits = this.#limits(this.#chaos.smaller(this.#settings.batchSize))
    return this.#cutOff(shuffled, planBatch(shuffled, limits).counts)
  }

  #cutOff(queues: readonly PartitionQueue[], counts: readonly number[]): readonly Part[] {
    this.#rotation++
    this.#cut = null
    const parts = queues.map((queue, index) => ({ queue, entries: queue.take(counts[index] ?? 0) }))
    this.#source.changed.notify()
    return parts.filter(({ entries }) => entries.length > 0)
  }

  #limits(recordsMax: number): BatchLimits {
    return { recordsMax, payloadBytesMax, envelopeBytes: this.#envelopeBytes }
  }
}
