import { deadlineIn } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { type FetchAsk, type Isolation, readPartitions } from '../../kafka/fetch.ts'
import { tpKey } from '../../kafka/record.ts'
import { offsetsAt } from '../../verify/positions.ts'

const partitionBytesMax = 512 * 1024
const answerBytesMax = 8 * 1024 * 1024
const waitMs = 100
const readTimeoutMs = 20_000
const endOfTime = 2n ** 62n

/** A consumer of the output topics that only counts: one of each isolation shows what it keeps from its readers. */
export class LogCounter {
  readonly #cluster: Cluster
  readonly #isolation: Isolation
  readonly #topics: readonly string[]
  readonly #onTrouble: (error: RelayError) => void
  readonly #records = new Map<string, number>()
  /** Per producer and epoch, per partition: how many transactions ended here with a commit. */
  readonly #commits = new Map<string, Map<string, number>>()

  /** `onTrouble` hears of a partition that could not be read for 20 s; unless it throws, as it does by default, it is tried again. */
  constructor(cluster: Cluster, topics: readonly string[], isolation: Isolation, onTrouble = give) {
    this.#cluster = cluster
    this.#topics = topics
    this.#isolation = isolation
    this.#onTrouble = onTrouble
  }

  get records(): number {
    return this.#topics.reduce((sum, topic) => sum + this.recordsOf(topic), 0)
  }

  recordsOf(topic: string): number {
    return this.#records.get(topic) ?? 0
  }

  /** A transaction leaves a marker in every partition that it wrote, so the partition with most of a producer's tells. */
  get transactions(): number {
    return [...this.#commits.values()].reduce((sum, partitions) => sum + Math.max(...partitions.values()), 0)
  }

  /**
   * Reads on until aborted, and then to the end of what is there, markers that are still to come included: 20 s at most, for
   * a transaction may never end. @throws RelayError when a partition cannot be read, or no broker
   */
  async run(signal: AbortSignal): Promise<void> {
    let asks = await this.#start()
    while (!signal.aborted) asks = await this.#readOn(asks)
    const ends = await offsetsAt(this.#cluster, asks, 'latest')
    const deadline = deadlineIn(this.#cluster.clock, readTimeoutMs)
    const isBehind = (ask: FetchAsk) => ask.from < (ends.get(tpKey(ask)) ?? 0n)
    while (asks.some(isBehind) && deadline.remainingMs() > 0) asks = await this.#readOn(asks)
  }

  async #start(): Promise<FetchAsk[]> {
    const found = await this.#cluster.topics(this.#topics, deadlineIn(this.#cluster.clock, readTimeoutMs))
    return [...found.values()].flatMap(({ name: topic, topicId, partitions }) =>
      partitions.map(({ partition }) => {
        return { topic, topicId, partition, from: 0n, until: endOfTime, maxBytes: partitionBytesMax }
      }),
    )
  }

  async #readOn(asks: readonly FetchAsk[]): Promise<FetchAsk[]> {
    const limits = { maxBytes: answerBytesMax, maxWaitMs: waitMs, isolation: this.#isolation }
    const deadline = deadlineIn(this.#cluster.clock, readTimeoutMs)
    const fetched = await readPartitions(this.#cluster, asks, limits, deadline)
    return asks.map((ask, index) => {
      const part = fetched[index]
      if (!part) throw new RelayError('INVARIANT_BROKEN', 'an ask has no answer')
      if (part.error) this.#onTrouble(part.error)
      this.#records.set(ask.topic, this.recordsOf(ask.topic) + part.records.length)
      for (const { kind, producerId, producerEpoch } of part.markers) {
        if (kind === 'commit') this.#noteCommit(`${producerId}/${producerEpoch}`, `${ask.topic}-${ask.partition}`)
      }
      return { ...ask, from: part.until }
    })
  }

  #noteCommit(producer: string, partition: string): void {
    const partitions = this.#commits.get(producer) ?? new Map<string, number>()
    partitions.set(partition, (partitions.get(partition) ?? 0) + 1)
    this.#commits.set(producer, partitions)
  }
}

function give(error: RelayError): void {
  throw error
}
