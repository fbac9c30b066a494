import { type Clock, type Deadline, deadlineIn } from '../../clock.ts'
import { isRelayError, messageOf, RelayError } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { type FetchedPartition, readPartitions } from '../../kafka/fetch.ts'
import { payloadBytesMax } from '../lambda-host/invoke-result.ts'
import { type Entry, entryOf, envelopeBytes } from './event-encoding.ts'
import { GroupMember, type Membership } from './group-member.ts'
import { Notifier } from './notifier.ts'
import { PartitionQueue } from './partition-queue.ts'
import { fitsAlone } from './plan-batch.ts'
import type { MutableStats, PollerEvent } from './poller-event.ts'
import type { PollerSettings } from './poller-options.ts'
import { startingPositions } from './starting-position.ts'

const heartbeatEveryMs = 300
const partitionsLookedAtEveryMs = 5_000
const requestTimeoutMs = 10_000
const pauseMs = 200
const fetchBytesMax = 8 * 1024 * 1024
const fetchWaitMs = 100

/**
 * The reading half of one poller: a member of the group, and a queue for each partition that it owns. It is read with
 * the relay's own fetch (read_committed, exact positions past markers and aborted records).
 */
export class PartitionSource {
  readonly changed = new Notifier()
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #settings: PollerSettings
  readonly #stats: MutableStats
  readonly #emit: (event: PollerEvent) => void
  readonly #poller: number
  readonly #member: GroupMember
  readonly #assigned = Promise.withResolvers<void>()
  #queues: PartitionQueue[] = []
  #membership: Membership | null = null
  #topicId = ''
  #tombstones = 0

  constructor(cluster: Cluster, settings: PollerSettings, poller: number, stats: MutableStats) {
    this.#cluster = cluster
    this.#clock = cluster.clock
    this.#settings = settings
    this.#stats = stats
    this.#poller = poller
    this.#emit = settings.onEvent
    this.#member = new GroupMember(cluster, settings)
  }

  /** Before `run`. @throws RelayError TOPIC_MISSING, BROKER_UNAVAILABLE, AUTHENTICATION_FAILED */
  async lookUpTopic(): Promise<void> {
    const { topic } = this.#settings
    const found = (await this.#cluster.topics([topic], this.#soon(), 'fresh')).get(topic)
    if (!found) throw new RelayError('TOPIC_MISSING', `The topic ${topic} does not exist; create it.`)
    this.#topicId = found.topicId
  }

  /** Resolves when the group has given it partitions for the first time, or none. */
  assigned(): Promise<void> {
    return this.#assigned.promise
  }

  queues(): readonly PartitionQueue[] {
    return this.#queues
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#stayMember(signal), this.#read(signal)])
    await this.#member.leave()
  }

  /**
   * Commits how far each of these partitions is done, under the generation of now. A partition that has moved away is
   * left out: its new owner begins at what was committed before, and delivers again.
   */
  async commit(done: ReadonlyMap<PartitionQueue, bigint>, signal: AbortSignal): Promise<void> {
    for (;;) {
      const seen = this.changed.version
      const open = [...done].filter(([queue, offset]) => queue.owned && queue.committed !== offset)
      if (open.length === 0) return
      const offsets = new Map(open.map(([queue, offset]) => [queue.partition, offset]))
      const standing = await this.#member.commit(offsets).catch((error) => this.#note(error))
      if (standing === 'member') {
        for (const [queue, offset] of open) queue.committed = offset
        this.#emit({ kind: 'committed', poller: this.#poller, offsets })
        return
      }
      if (signal.aborted) return
      await this.changed.after(seen, pauseMs, this.#clock, signal)
    }
  }

  async #stayMember(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#adopt(await this.#member.join(signal))
        await this.#keepUp(signal)
      } catch (error) {
        if (!signal.aborted) this.#note(error)
        await this.#pause(signal)
      }
    }
  }

  /** Returns when it has to join again. */
  async #keepUp(signal: AbortSignal): Promise<void> {
    let lookAtMs = this.#clock.now() + partitionsLookedAtEveryMs
    while (!signal.aborted) {
      await this.#clock.sleep(heartbeatEveryMs, signal).catch(() => undefined)
      if (signal.aborted || (await this.#member.heartbeat()) === 'rejoin') return
      if (!this.#membership?.isLeader || this.#clock.now() < lookAtMs) continue
      lookAtMs = this.#clock.now() + partitionsLookedAtEveryMs
      if ((await this.#member.partitionCount()) !== this.#membership.partitionCount) return
    }
  }

  /** Keeps what it has read of a partition only if nobody else can have owned it in between. */
  async #adopt(membership: Membership): Promise<void> {
    const { memberId, generation, partitions } = membership
    const last = this.#membership
    const seamless = last?.memberId === memberId && last.generation + 1 === generation
    const kept = seamless ? this.#queues.filter(({ partition }) => partitions.includes(partition)) : []
    for (const queue of this.#queues) if (!kept.includes(queue)) queue.owned = false
    const fresh = partitions.filter((partition) => !kept.some((queue) => queue.partition === partition))
    this.#queues = kept
    this.#membership = membership
    this.#queues = [...kept, ...(await this.#open(fresh))].sort((a, b) => a.partition - b.partition)
    if (last) this.#stats.rebalances++
    this.#emit({ kind: 'assigned', poller: this.#poller, generation, partitions })
    this.changed.notify()
    this.#assigned.resolve()
  }

  async #open(partitions: readonly number[]): Promise<PartitionQueue[]> {
    const { topic } = this.#settings
    await this.lookUpTopic()
    const positions = await startingPositions(this.#cluster, this.#settings, partitions, this.#soon())
    const queues = partitions.map(
      (partition) => new PartitionQueue(topic, partition, positions.get(partition)?.offset ?? 0n),
    )
    const resolved = partitions.filter((partition) => positions.get(partition)?.committed === false)
    // Written down at once: after a rebalance LATEST would otherwise mean another moment, and skip what came in between.
    if (resolved.length > 0)
      await this.#member.commit(
        new Map(resolved.map((partition) => [partition, positions.get(partition)?.offset ?? 0n])),
      )
    return queues
  }

  async #read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const seen = this.changed.version
      const { batchSize } = this.#settings
      const hungry = this.#queues.filter((queue) => !queue.isFull(2 * batchSize, 2 * payloadBytesMax))
      try {
        if (hungry.length === 0) await this.changed.after(seen, pauseMs, this.#clock, signal)
        else await this.#readOnce(hungry, signal)
      } catch (error) {
        this.#note(error)
        await this.#pause(signal)
      }
    }
  }

  async #readOnce(queues: readonly PartitionQueue[], signal: AbortSignal): Promise<void> {
    const asks = queues.map(({ partition, position: from }) => {
      const { topic } = this.#settings
      return { topic, topicId: this.#topicId, partition, from, until: 2n ** 63n - 1n, maxBytes: fetchBytesMax }
    })
    const limits = { maxBytes: fetchBytesMax, maxWaitMs: fetchWaitMs }
    const answers = await readPartitions(this.#cluster, asks, limits, this.#soon())
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
    if (troubled) await this.#pause(signal)
  }

  #take(queue: PartitionQueue, { records, until }: FetchedPartition): void {
    const now = this.#clock.now()
    const limits = { payloadBytesMax, recordsMax: 1, envelopeBytes: envelopeBytes(this.#settings.brokers.join(',')) }
    const entries: Entry[] = []
    for (const record of records) {
      const entry = entryOf(record, this.#tombstoneForm(), now)
      if (fitsAlone(queue.groupBytes, entry.jsonBytes, limits)) entries.push(entry)
      else this.#drop(queue, record.offset, entry.jsonBytes)
    }
    queue.push(entries, until)
    this.changed.notify()
  }

  /** What AWS does with it is documented for on-failure destinations only; without one it is gone. */
  #drop(queue: PartitionQueue, offset: bigint, bytes: number): void {
    this.#stats.oversized++
    this.#emit({ kind: 'oversized', poller: this.#poller, partition: queue.partition, offset, bytes })
  }

  /** As a consumer with `auto.offset.reset` earliest: a position outside the log goes to its start. */
  async #recover(queue: PartitionQueue, error: RelayError): Promise<void> {
    this.#note(error)
    if (error.code === 'SOURCE_REPLACED') await this.lookUpTopic()
    if (error.code !== 'OFFSET_OUT_OF_RANGE') return
    const settings = { ...this.#settings, startingPosition: 'TRIM_HORIZON' } as const
    const positions = await startingPositions(this.#cluster, settings, [queue.partition], this.#soon(), 'anew')
    queue.position = positions.get(queue.partition)?.offset ?? queue.position
  }

  #tombstoneForm(): 'null' | 'absent' {
    const { tombstones } = this.#settings
    if (tombstones !== 'alternate') return tombstones
    return this.#tombstones++ % 2 === 0 ? 'null' : 'absent'
  }

  #note(error: unknown): void {
    const code = isRelayError(error) ? '' : 'unexpected: '
    this.#emit({ kind: 'trouble', poller: this.#poller, message: `${code}${messageOf(error)}` })
  }

  #soon(): Deadline {
    return deadlineIn(this.#clock, requestTimeoutMs)
  }

  #pause(signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(pauseMs, signal).catch(() => undefined)
  }
}
