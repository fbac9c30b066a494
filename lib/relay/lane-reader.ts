import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import { type FetchedPartition, readPartitions } from '../kafka/fetch.ts'
import type { KafkaRecord } from '../kafka/record.ts'
import type { Bell } from './bell.ts'
import { windowFromEvent } from './event-payload.ts'
import type { LaneId } from './lane-id.ts'
import type { RelayRuntime } from './runtime.ts'

export interface ReadLimits {
  readonly recordsMax: number
  readonly bytesMax: number
}

/** One window as read: committed records only, in offset order per partition. */
export interface ReadWindow {
  readonly records: readonly KafkaRecord[]
  /** Next position per partition, holes included (R9). */
  readonly until: ReadonlyMap<number, bigint>
}

/** Below it there is nothing to save: a batch may take as much (message.max.bytes). */
const askBytesMin = 1 << 20
/** Of what as many records as last time would take. */
const askBytesMargin = 1.1

/**
 * Step 6: reads a lane's next window from the log as read_committed, by topic id. While a window is transformed and
 * committed, the one after it is fetched already: what it holds is committed data of an immutable log, so it stays true
 * as long as the position is the one it was read from.
 */
export class LaneReader {
  private readonly runtime: RelayRuntime
  private readonly id: LaneId
  private readonly topicId: string
  private readonly bell: Bell
  /** Batch bytes per record in the last window: asking for more than a window takes would only be thrown away. */
  private recordBytes = 0
  private ahead: { readonly key: string; readonly window: Promise<ReadWindow> } | null = null

  constructor(runtime: RelayRuntime, id: LaneId, topicId: string, bell: Bell) {
    this.runtime = runtime
    this.bell = bell
    this.id = id
    this.topicId = topicId
  }

  /**
   * @throws RelayError OFFSET_OUT_OF_RANGE (the position is not in the log: the caller asks where the log begins and
   *   ends), SOURCE_REPLACED, CORRUPT_BATCH, UNKNOWN_COMPRESSION, BROKER_ERROR
   */
  async next(
    positions: ReadonlyMap<number, bigint>,
    targets: ReadonlyMap<number, bigint>,
    limits: ReadLimits,
    deadline: Deadline,
  ): Promise<ReadWindow> {
    const key = keyOf(positions, targets, limits)
    const ahead = this.ahead?.key === key ? this.ahead.window : null
    this.ahead = null
    return ahead
      ? ahead.catch(() => this.read(positions, targets, limits, deadline))
      : this.read(positions, targets, limits, deadline)
  }

  /** Begins to read the window that follows; a failure is found again by the read that wants it. */
  readAhead(
    positions: ReadonlyMap<number, bigint>,
    targets: ReadonlyMap<number, bigint>,
    limits: ReadLimits,
    deadline: Deadline,
  ): void {
    const window = this.read(positions, targets, limits, deadline)
    window.catch(() => undefined)
    this.ahead = { key: keyOf(positions, targets, limits), window }
  }

  forgetAhead(): void {
    this.ahead = null
  }

  /** Nobody wants the window any more: waits until its request is over, so that none is left behind in a frozen container. */
  async leaveAhead(): Promise<void> {
    await this.ahead?.window.catch(() => undefined)
    this.ahead = null
  }

  private async read(
    positions: ReadonlyMap<number, bigint>,
    targets: ReadonlyMap<number, bigint>,
    limits: ReadLimits,
    deadline: Deadline,
  ): Promise<ReadWindow> {
    const fromEvent = this.runtime.relay.read === 'event' && windowFromEvent(this.bell, positions, targets, limits)
    if (fromEvent) return fromEvent
    const behind = [...positions].filter(([partition, from]) => from < (targets.get(partition) ?? from))
    const asks = behind.slice(0, limits.recordsMax) // a record alone is alone in the lane, not in its partition
    const bytesEach = Math.max(1, Math.floor(limits.bytesMax / Math.max(1, asks.length)))
    const recordsEach = Math.max(1, Math.floor(limits.recordsMax / Math.max(1, asks.length)))
    const { topic } = this.id
    const fetched = await readPartitions(
      this.runtime.cluster,
      asks.map(([partition, from]) => ({
        topic,
        topicId: this.topicId,
        partition,
        from,
        until: targets.get(partition) ?? from,
        maxBytes: Math.min(bytesEach, this.bytesFor(recordsEach)),
        maxRecords: recordsEach,
      })),
      { maxBytes: limits.bytesMax, maxWaitMs: 0, rackId: this.runtime.settings.rack },
      deadline,
    )
    for (const partition of fetched) this.refuse(partition)
    const records = fetched.length === 1 ? (fetched[0]?.records ?? []) : fetched.flatMap(({ records }) => records)
    if (records.length > 0) this.recordBytes = batchBytesOf(fetched) / records.length
    return {
      records,
      until: new Map([...positions, ...fetched.map(({ partition, until }): [number, bigint] => [partition, until])]),
    }
  }

  private bytesFor(records: number): number {
    return Math.max(askBytesMin, Math.ceil(records * this.recordBytes * askBytesMargin))
  }

  private refuse({ partition, error }: FetchedPartition): void {
    if (!error) return
    if (error instanceof RelayError) throw error
    throw new RelayError('BROKER_ERROR', `${this.id.topic} partition ${partition} cannot be read: ${String(error)}`)
  }
}

const batchBytesOf = (fetched: readonly FetchedPartition[]): number =>
  fetched.reduce((sum, { batchBytes }) => sum + batchBytes, 0)

const keyOf = (
  positions: ReadonlyMap<number, bigint>,
  targets: ReadonlyMap<number, bigint>,
  { recordsMax, bytesMax }: ReadLimits,
): string => `${[...positions]};${[...targets]};${recordsMax};${bytesMax}`
