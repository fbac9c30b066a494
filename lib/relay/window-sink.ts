import { RelayError } from '../errors.ts'
import type { Output } from '../kafka/record.ts'
import { OutputBuffer } from '../kafka/record-batch/output-buffer.ts'
import type { PartitionBatches } from '../transaction/session.ts'
import type { OutputSink } from './compiled-relay.ts'

/** Collects the outputs of one window as encoded batches, under the bounds and partition counts of their topics. */
export class WindowSink implements OutputSink {
  private readonly counts: ReadonlyMap<string, number>
  private readonly buffer: OutputBuffer

  /** `counts`: partitions per topic, as pinned in the fence record. `batchBytesMax`: `max.message.bytes` per topic. */
  constructor(counts: ReadonlyMap<string, number>, batchBytesMax: ReadonlyMap<string, number>) {
    this.counts = counts
    this.buffer = new OutputBuffer({ maxMessageBytes: (topic) => batchBytesMax.get(topic) ?? 0 })
  }

  partitionCount(topic: string): number {
    return this.counts.get(topic) ?? 0
  }

  append(outputs: readonly Output[]): void {
    for (const { topic, partition } of outputs) this.assertPartition(topic, partition)
    this.buffer.append(outputs)
  }

  get batches(): readonly PartitionBatches[] {
    return this.buffer.partitions()
  }

  get sizeBytes(): number {
    return this.buffer.sizeBytes
  }

  reset(): void {
    this.buffer.reset()
  }

  /** After the commit, once no transmission can still read the batches. */
  recycle(): void {
    this.buffer.recycle()
  }

  private assertPartition(topic: string, partition: number): void {
    const count = this.partitionCount(topic)
    if (Number.isInteger(partition) && partition >= 0 && partition < count) return
    const message = `topic '${topic}' has no partition ${partition}: it has ${count}, numbered from 0`
    throw new RelayError('PARTITION_INVALID', message, { context: { topic, partition, partitions: count } })
  }
}
