import { deadlineIn } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { type FetchedPartition, readPartitions } from '../../kafka/fetch.ts'
import { payloadBytesMax } from '../lambda-host/invoke-result.ts'
import { type Entry, entryOf, envelopeBytes } from './event-encoding.ts'
import type { Notifier } from './notifier.ts'
import type { PartitionQueue } from './partition-queue.ts'
import { fitsAlone } from './plan-batch.ts'
import { type MutableStats, troubleEvent } from './poller-event.ts'
import type { PollerSettings } from './poller-options.ts'
import { startingPositions } from './starting-position.ts'

const requestTimeoutMs = 10_000
const pauseMs = 200
const fetchBytesMax = 4 * 1024 * 1024
const fetchWaitMs = 100
const endless = 2n ** 63n - 1n

export interface ReaderParts {
  readonly cluster: Cluster
  readonly settings: PollerSettings
  readonly poller: number
  readonly stats: MutableStats
  /** Told whenever a queue gets records or moves. */
  readonly changed: Notifier
}

/** Fills queues from the log with the relay's own fetch: read_committed, exact positions past markers and aborted records. */
export class PartitionReader {
  readonly #its: ReaderParts
  readonly #envelopeBytes: number
  #topicId = ''
  #tombstones = 0

  constructor(parts: ReaderParts) {
    this.#its = parts
    this.#envelopeBytes = envelopeBytes(parts.settings.brokers.join(','))
  }

  /** Before the first read. @throws RelayError TOPIC_MISSING, BROKER_UNAVAILABLE, AUTHENTICATION_FAILED */
  async lookUpTopic(): Promise<void> {
    const { cluster, settings } = this.#its
    const topics = await cluster.topics([settings.topic], deadlineIn(cluster.clock, requestTimeoutMs), 'fresh')
    const found = topics.get(settings.topic)
    if (!found) throw new RelayError('TOPIC_MISSING', `The topic ${settings.topic} does not exist; create it.`)
    this.#topicId = found.topicId
  }

  /** Until aborted: reads whatever of `queues` has room, all at once. */
  async run(queues: () => readonly PartitionQueue[], signal: AbortSignal): Promise<void> {
    const { changed, cluster, settings, poller } = this.#its
    while (!signal.aborted) {
      const seen = changed.version
      const hungry = queues().filter((queue) => !queue.isFull(2 * settings.batchSize, 2 * payloadBytesMax))
      try {
        if (hungry.length === 0) await changed.after(seen, pauseMs, cluster.clock, signal)
        else await this.#readOnce(hungry, signal)
      } catch (error) {
        settings.onEvent(troubleEvent(poller, error))
        await cluster.clock.sleep(pauseMs, signal).catch(() => undefined)
      }
    }
  }

  async #readOnce(queues: readonly PartitionQueue[], signal: AbortSignal): Promise<void> {
    const { cluster, settings } = this.#its
    const place = { topic: settings.topic, topicId: this.#topicId, until: endless, maxBytes: fetchBytesMax }
    const asks = queues.map(({ partition, position: from }) => ({ ...place, partition, from }))
    const limits = { maxBytes: fetchBytesMax, maxWaitMs: fetchWaitMs }
    const answers = await readPartitions(cluster, asks, limits, deadlineIn(cluster.clock, requestTimeoutMs))
    let troubled = false
    for (const [index, answer] of answers.entries()) {
      const queue = queues[index]
      if (queue === undefined || !queue.owned) continue
      if (answer.error) {
        troubled = true
        await this.#recover(queue, answer.error)
      } else if (answer.until > queue.position) {
        this.#take(queue, answer)
      }
    }
    if (troubled) await cluster.clock.sleep(pauseMs, signal).catch(() => undefined)
  }

  #take(queue: PartitionQueue, { records, until }: FetchedPartition): void {
    const now = this.#its.cluster.clock.now()
    const limits = { payloadBytesMax, envelopeBytes: this.#envelopeBytes }
    const entries: Entry[] = []
    for (const record of records) {
      const entry = entryOf(record, this.#tombstoneForm(), now)
      if (fitsAlone(queue.groupBytes, entry.jsonBytes, limits)) entries.push(entry)
      else this.#drop(queue, record.offset, entry.jsonBytes)
    }
    queue.push(entries, until)
    this.#its.changed.notify()
  }

  /** What AWS does with it is documented for on-failure destinations only; without one it is gone. */
  #drop(queue: PartitionQueue, offset: bigint, bytes: number): void {
    const { stats, settings, poller } = this.#its
    stats.oversized++
    settings.onEvent({ kind: 'oversized', poller, partition: queue.partition, offset, bytes })
  }

  /** As a consumer with `auto.offset.reset` earliest: a position outside the log goes to its start. */
  async #recover(queue: PartitionQueue, error: RelayError): Promise<void> {
    this.#its.settings.onEvent(troubleEvent(this.#its.poller, error))
    if (error.code === 'SOURCE_REPLACED') await this.lookUpTopic()
    if (error.code !== 'OFFSET_OUT_OF_RANGE') return
    const { cluster, settings } = this.#its
    const fromStart = { ...settings, startingPosition: 'TRIM_HORIZON' } as const
    const deadline = deadlineIn(cluster.clock, requestTimeoutMs)
    const [start] = await startingPositions(cluster, fromStart, [queue.partition], deadline, 'anew')
    queue.position = start?.offset ?? queue.position
  }

  #tombstoneForm(): 'null' | 'absent' {
    const { tombstones } = this.#its.settings
    if (tombstones !== 'alternate') return tombstones
    return this.#tombstones++ % 2 === 0 ? 'null' : 'absent'
  }
}
