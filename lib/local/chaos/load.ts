import type { Random } from '../../clock.ts'
import { deadlineIn } from '../../clock.ts'
import type { Cluster } from '../../kafka/cluster.ts'
import { BatchBuilder } from '../../kafka/record-batch/encode.ts'
import { type IdempotentProducer, openIdempotentProducer } from '../../transaction/idempotent-producer.ts'
import { pause } from './fault.ts'
import { numberedValue } from './numbers.ts'

export interface LoadPlan {
  readonly topic: string
  readonly partitions: number
  /** Records, over all partitions. */
  readonly perSecond: number
}

/** What was written into one source partition: numbers from 0 up to `next`. */
export interface WrittenPartition {
  readonly next: number
  /** Those of them that were never acknowledged: they may be in the source or not. Never written again. */
  readonly unsure: ReadonlySet<number>
}

const tickMs = 50
const recordsPerSendMax = 1_000
const batchBytesMax = 500_000
const sendTimeoutMs = 30_000
const afterTroubleMs = 500

/** Writes numbered records at an even pace, one idempotent producer (acks=all) for each partition, whatever the brokers do. */
export class Load {
  readonly #cluster: Cluster
  readonly #plan: LoadPlan
  readonly #writers: readonly PartitionWriter[]

  constructor(cluster: Cluster, plan: LoadPlan, random: Random) {
    this.#cluster = cluster
    this.#plan = plan
    this.#writers = Array.from({ length: plan.partitions }, (_, partition) => {
      return new PartitionWriter(cluster, plan.topic, partition, random)
    })
  }

  get acknowledged(): number {
    return this.#writers.reduce((sum, { next, unsure }) => sum + next - unsure.size, 0)
  }

  /** The longest time in which no record at all was acknowledged. */
  get longestGapMs(): number {
    const times = this.#writers.flatMap(({ acknowledgedAtMs }) => acknowledgedAtMs).sort((a, b) => a - b)
    return times.reduce((longest, atMs, index) => Math.max(longest, atMs - (times[index - 1] ?? atMs)), 0)
  }

  written(): readonly WrittenPartition[] {
    return this.#writers
  }

  /** Until aborted; what is under way then is waited for. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { perSecond, partitions } = this.#plan
    const beganMs = this.#cluster.clock.now()
    await Promise.all(this.#writers.map((writer) => writer.run(perSecond / partitions, beganMs, signal)))
  }
}

class PartitionWriter implements WrittenPartition {
  next = 0
  readonly unsure = new Set<number>()
  readonly acknowledgedAtMs: number[] = []
  readonly #cluster: Cluster
  readonly #topic: string
  readonly #partition: number
  readonly #random: Random
  #producer: IdempotentProducer | null = null

  constructor(cluster: Cluster, topic: string, partition: number, random: Random) {
    this.#cluster = cluster
    this.#topic = topic
    this.#partition = partition
    this.#random = random
  }

  async run(perSecond: number, beganMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#cluster
    while (!signal.aborted) {
      const due = Math.floor(((clock.now() - beganMs) * perSecond) / 1_000)
      const until = Math.min(due, this.next + recordsPerSendMax)
      if (until > this.next) await this.#write(until, signal)
      await pause(clock, tickMs, signal)
    }
  }

  async #write(until: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#cluster
    const from = this.next
    this.next = until
    for (let number = from; number < until; number++) this.unsure.add(number)
    try {
      const deadline = deadlineIn(clock, sendTimeoutMs)
      this.#producer ??= await openIdempotentProducer(this.#cluster, this.#random, deadline)
      const batches = [this.#batch(from, until)]
      await this.#producer.send([{ topic: this.#topic, partition: this.#partition, batches }], deadline)
      for (let number = from; number < until; number++) this.unsure.delete(number)
      this.acknowledgedAtMs.push(clock.now())
    } catch {
      this.#producer = null // its sequence may have a hole
      await pause(clock, afterTroubleMs, signal)
    }
  }

  #batch(from: number, until: number): BatchBuilder {
    const batch = new BatchBuilder({ maxBytes: batchBytesMax, topic: this.#topic })
    const timestampMs = this.#cluster.clock.now()
    for (let number = from; number < until; number++) {
      // Keys that many records share send the outputs of one source partition to all output partitions.
      const key = Buffer.from(String(number % 100))
      batch.tryAppend({ key, value: numberedValue({ partition: this.#partition, number }), timestampMs })
    }
    return batch
  }
}
