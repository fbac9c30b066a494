import { type Clock, type Deadline, deadlineIn } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { GroupMember, type Membership } from './group-member.ts'
import { Notifier } from './notifier.ts'
import { PartitionQueue } from './partition-queue.ts'
import { PartitionReader } from './partition-reader.ts'
import { type MutableStats, type PollerEvent, troubleEvent } from './poller-event.ts'
import type { PollerSettings } from './poller-options.ts'
import { startingPositions } from './starting-position.ts'

const heartbeatEveryMs = 300
const partitionsLookedAtEveryMs = 5_000
const requestTimeoutMs = 10_000
const pauseMs = 200

/**
 * The reading half of one poller: a member of the group, and a queue for each partition that it owns.
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
  readonly #reader: PartitionReader
  readonly #assigned = Promise.withResolvers<void>()
  #queues: PartitionQueue[] = []
  #membership: Membership | null = null

  constructor(cluster: Cluster, settings: PollerSettings, poller: number, stats: MutableStats) {
    this.#cluster = cluster
    this.#clock = cluster.clock
    this.#settings = settings
    this.#stats = stats
    this.#poller = poller
    this.#emit = settings.onEvent
    this.#member = new GroupMember(cluster, settings)
    this.#reader = new PartitionReader({ cluster, settings, poller, stats, changed: this.changed })
  }

  /** Before `run`. @throws RelayError TOPIC_MISSING, BROKER_UNAVAILABLE, AUTHENTICATION_FAILED */
  lookUpTopic(): Promise<void> {
    return this.#reader.lookUpTopic()
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
    await Promise.all([this.#stayMember(signal), this.#reader.run(() => this.#queues, signal)])
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
    await this.#reader.lookUpTopic()
    const starts = await startingPositions(this.#cluster, this.#settings, partitions, this.#soon())
    // Written down at once: after a rebalance LATEST would otherwise mean another moment, and skip what came in between.
    const resolved = starts.filter(({ committed }) => !committed)
    if (resolved.length > 0) {
      await this.#member.commit(new Map(resolved.map(({ partition, offset }) => [partition, offset])))
    }
    return starts.map(({ partition, offset }) => new PartitionQueue(topic, partition, offset))
  }

  #note(error: unknown): void {
    this.#emit(troubleEvent(this.#poller, error))
  }

  #soon(): Deadline {
    return deadlineIn(this.#clock, requestTimeoutMs)
  }

  #pause(signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(pauseMs, signal).catch(() => undefined)
  }
}
