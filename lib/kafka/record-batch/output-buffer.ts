import { invariant } from '../../invariant.ts'
import type { Compression } from '../compression/deflate.ts'
import type { OutputRecord, TopicPartition } from '../record.ts'
import { assertEncodable, BatchBuilder, type BatchOptions } from './encode.ts'
import { SpareBuffers } from './spare-buffers.ts'

export interface Output extends TopicPartition {
  readonly record: OutputRecord
}

/** The batches of one output partition, in the order in which their records were added. */
export interface PartitionBatches extends TopicPartition {
  readonly batches: readonly BatchBuilder[]
}

export interface OutputBufferOptions {
  /** `max.message.bytes` of each output topic; asked once a window, so that it may be lowered between windows. */
  readonly maxMessageBytes: (topic: string) => number
  readonly compression?: Compression
}

/** Of the last window's bytes: a little more than as many again. */
const expectedShare = 1.125

/**
 * Collects a window's outputs into batches by partition, each under its topic's `max.message.bytes`.
 *
 * Partitions keep the order in which they were first used; records keep theirs within a partition.
 */
export class OutputBuffer {
  private readonly options: OutputBufferOptions
  private readonly topics = new Map<string, TopicOutputs>()
  private readonly spare = new SpareBuffers()
  private used: OpenPartition[] = []
  private count = 0
  private bytes = 0

  constructor(options: OutputBufferOptions) {
    this.options = options
  }

  /**
   * Adds what one source record gives, all or nothing.
   * @throws RelayError RECORD_TOO_LARGE, RECORD_INVALID: then nothing was added.
   */
  append(outputs: readonly Output[]): void {
    if (outputs.length > 1) for (const output of outputs) this.assertEncodable(output)
    for (const output of outputs) this.add(output)
  }

  /** What was added since the last reset. Stays as it is when the buffer is reset and filled again. */
  partitions(): readonly PartitionBatches[] {
    return this.used
  }

  get recordCount(): number {
    return this.count
  }

  /** Size of all batches, their headers included, before compression. */
  get sizeBytes(): number {
    return this.bytes
  }

  /** The window was committed and every answer has come: its batches are gone, the next window is written into their bytes. */
  recycle(): void {
    for (const { batches } of this.used) for (const batch of batches) batch.recycle()
    this.reset()
  }

  /** Begins the next window. Only sizes are remembered, so that its batches are allocated once. */
  reset(): void {
    for (const outputs of this.topics.values()) outputs.reset(this.batchOptions(outputs.topic))
    this.used = []
    this.count = 0
    this.bytes = 0
  }

  private assertEncodable({ topic, record }: Output): void {
    assertEncodable(record, this.topicOf(topic).options.maxBytes, topic)
  }

  private add({ topic, partition, record }: Output): void {
    const outputs = this.topicOf(topic)
    const known = outputs.open.get(partition)
    const open = known ?? new OpenPartition(outputs, partition)
    this.bytes += open.append(record)
    this.count++
    if (known !== undefined) return
    outputs.open.set(partition, open)
    this.used.push(open)
  }

  private topicOf(topic: string): TopicOutputs {
    const known = this.topics.get(topic)
    if (known !== undefined) return known
    const outputs = new TopicOutputs(topic, this.batchOptions(topic))
    this.topics.set(topic, outputs)
    return outputs
  }

  private batchOptions(topic: string): BatchOptions {
    const { maxMessageBytes, compression = 'none' } = this.options
    return { topic, maxBytes: maxMessageBytes(topic), compression, spare: this.spare }
  }
}

class TopicOutputs {
  readonly topic: string
  options: BatchOptions
  readonly open = new Map<number, OpenPartition>()
  /** By partition: how large its batches became in the last window that used it. */
  readonly lastBytes = new Map<number, number>()

  constructor(topic: string, options: BatchOptions) {
    this.topic = topic
    this.options = options
  }

  reset(options: BatchOptions): void {
    for (const { partition, sizeBytes } of this.open.values()) this.lastBytes.set(partition, sizeBytes)
    this.open.clear()
    this.options = options
  }
}

class OpenPartition implements PartitionBatches {
  readonly topic: string
  readonly partition: number
  readonly batches: BatchBuilder[] = []
  private readonly outputs: TopicOutputs
  private last: BatchBuilder | undefined

  constructor(outputs: TopicOutputs, partition: number) {
    this.topic = outputs.topic
    this.partition = partition
    this.outputs = outputs
  }

  get sizeBytes(): number {
    return this.batches.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  /** Answers by how many bytes the partition grew. */
  append(record: OutputRecord): number {
    const before = this.last?.sizeBytes ?? 0
    if (this.last?.tryAppend(record)) return this.last.sizeBytes - before
    const next = this.newBatch()
    invariant(next.tryAppend(record), 'a new batch takes a record or throws')
    this.batches.push(next)
    this.last = next
    return next.sizeBytes
  }

  private newBatch(): BatchBuilder {
    const leftBytes = (this.outputs.lastBytes.get(this.partition) ?? 0) * expectedShare - this.sizeBytes
    if (leftBytes <= 0) return new BatchBuilder(this.outputs.options)
    return new BatchBuilder({ ...this.outputs.options, expectedBytes: Math.ceil(leftBytes) })
  }
}
