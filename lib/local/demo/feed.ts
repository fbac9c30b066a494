import { type Clock, deadlineIn, type Random } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { partitionFor } from '../../kafka/partitioner.ts'
import { BatchBuilder } from '../../kafka/record-batch/encode.ts'
import { type IdempotentProducer, openIdempotentProducer } from '../../transaction/idempotent-producer.ts'
import type { PartitionBatches } from '../../transaction/session.ts'
import type { Flights } from './flights.ts'
import { type Fate, sourceRecord } from './source-record.ts'

export interface FeedPlan {
  readonly topic: string
  readonly partitions: number
  /** All flights arrive evenly spread over this time. */
  readonly durationMs: number
}

/** How many records were acknowledged, by what must become of them. */
export type FeedCounts = Readonly<Record<Fate, number>>

const tickMs = 50
const recordsPerTickMax = 5_000
const batchBytesMax = 500_000
const sendTimeoutMs = 30_000

/** Writes flights into the source topic at an even pace, as an idempotent producer with acks=all. */
export class Feed {
  readonly #cluster: Cluster
  readonly #flights: Flights
  readonly #plan: FeedPlan
  readonly #counts = { late: 0, onTime: 0, dead: 0 }
  #sent = 0

  constructor(cluster: Cluster, flights: Flights, plan: FeedPlan) {
    this.#cluster = cluster
    this.#flights = flights
    this.#plan = plan
  }

  get sent(): number {
    return this.#sent
  }

  get counts(): FeedCounts {
    return { ...this.#counts }
  }

  /**
   * Resolves when the last flight is acknowledged.
   * @throws RelayError of the producer, or the signal's reason
   */
  async run(random: Random, signal: AbortSignal): Promise<void> {
    const { clock } = this.#cluster
    const producer = await openIdempotentProducer(this.#cluster, random, deadlineIn(clock, sendTimeoutMs))
    const beganMs = clock.now()
    while (this.#sent < this.#flights.count) {
      await this.#send(producer, this.#dueAt(clock.now() - beganMs))
      await clock.sleep(this.#untilNextTick(clock, beganMs), signal)
    }
  }

  #dueAt(elapsedMs: number): number {
    const due = Math.ceil((this.#flights.count * elapsedMs) / this.#plan.durationMs)
    return Math.min(this.#flights.count, due, this.#sent + recordsPerTickMax)
  }

  #untilNextTick(clock: Clock, beganMs: number): number {
    const elapsedMs = clock.now() - beganMs
    const isBehind = this.#dueAt(elapsedMs) - this.#sent === recordsPerTickMax
    return isBehind ? 0 : tickMs - (elapsedMs % tickMs)
  }

  async #send(producer: IdempotentProducer, until: number): Promise<void> {
    const outputs = new Map<number, { batches: BatchBuilder[] }>()
    const fates: Fate[] = []
    for (let index = this.#sent; index < until; index++) {
      const { fate, ...record } = sourceRecord(this.#flights.at(index), index)
      this.#append(outputs, { ...record, timestampMs: this.#cluster.clock.now() })
      fates.push(fate)
    }
    await producer.send(this.#named(outputs), deadlineIn(this.#cluster.clock, sendTimeoutMs))
    for (const fate of fates) this.#counts[fate]++
    this.#sent = until
  }

  #append(
    outputs: Map<number, { batches: BatchBuilder[] }>,
    record: { readonly key: Buffer; readonly value: Buffer; readonly timestampMs: number },
  ): void {
    const partition = partitionFor({ key: record.key, sourcePartition: 0, partitionCount: this.#plan.partitions })
    const output = outputs.get(partition) ?? { batches: [] }
    outputs.set(partition, output)
    if (output.batches.at(-1)?.tryAppend(record)) return
    const batch = new BatchBuilder({ maxBytes: batchBytesMax, topic: this.#plan.topic })
    batch.tryAppend(record)
    output.batches.push(batch)
  }

  #named(outputs: ReadonlyMap<number, { batches: BatchBuilder[] }>): PartitionBatches[] {
    return [...outputs].map(([partition, { batches }]) => ({ topic: this.#plan.topic, partition, batches }))
  }
}
