import { type Entry, groupBytes } from './event-encoding.ts'

/** A partition that a poller owns: what was read of it and not yet delivered. */
export class PartitionQueue {
  readonly partition: number
  readonly groupBytes: number
  readonly entries: Entry[] = []
  /** Next offset to read. */
  position: bigint
  /** What the group has, as far as this poller knows. */
  committed: bigint
  /** False for ever once the partition has moved away: nothing of it is delivered or committed from here any more. */
  owned = true
  #bytes = 0

  constructor(topic: string, partition: number, position: bigint) {
    this.partition = partition
    this.groupBytes = groupBytes(topic, partition)
    this.position = position
    this.committed = position
  }

  push(entries: readonly Entry[], position: bigint): void {
    for (const entry of entries) this.entries.push(entry)
    this.position = position
    this.#bytes += sumBytes(entries)
  }

  take(count: number): Entry[] {
    const taken = this.entries.splice(0, count)
    this.#bytes -= sumBytes(taken)
    return taken
  }

  putBack(entries: readonly Entry[]): void {
    this.entries.unshift(...entries)
    this.#bytes += sumBytes(entries)
  }

  /** Reading on would only fill memory. */
  isFull(recordsMax: number, bytesMax: number): boolean {
    return this.entries.length >= recordsMax || this.#bytes >= bytesMax
  }

  /**
   * The offset to commit when everything that was taken so far is done: with nothing left here that is the position,
   * which is past markers, aborted records and whatever else no event ever carries.
   */
  get doneUntil(): bigint {
    const [next] = this.entries
    return next ? BigInt(next.record.offset) : this.position
  }
}

const sumBytes = (entries: readonly Entry[]): number => entries.reduce((sum, { jsonBytes }) => sum + jsonBytes, 0)
