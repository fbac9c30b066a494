import type { NodeAddress } from '../../kafka/transport.ts'
import type { GroupCoordinator } from './group-coordinator.ts'
import { type ModelPartition, partitionKey } from './topics.ts'

/** What an ex-leader still believes of a partition that it led. */
export interface StaleView {
  readonly leaderEpoch: number
  readonly endOffset: bigint
  readonly lastStableOffset: bigint
  /** For partitions of `__consumer_offsets`. */
  readonly groups: GroupCoordinator | null
}

/** One broker process: up, paused or down, and what it has not heard of yet. */
export class ModelNode {
  readonly id: number
  readonly address: NodeAddress
  private readonly views = new Map<string, StaleView>()
  private readonly stopListeners = new Set<() => void>()
  private up = true
  private pauseEnd: PromiseWithResolvers<void> | null = null

  constructor(id: number) {
    this.id = id
    this.address = { nodeId: id, host: `node-${id}.model`, port: 9092 }
  }

  get isUp(): boolean {
    return this.up
  }

  get isPaused(): boolean {
    return this.pauseEnd !== null
  }

  /** Resolves as soon as the process runs. */
  async running(): Promise<void> {
    while (this.pauseEnd !== null) await this.pauseEnd.promise
  }

  pause(): void {
    this.pauseEnd ??= Promise.withResolvers()
  }

  resume(): void {
    this.pauseEnd?.resolve()
    this.pauseEnd = null
  }

  stop(): void {
    this.up = false
    this.views.clear()
    for (const listener of [...this.stopListeners]) listener()
    this.resume()
  }

  start(): void {
    this.up = true
  }

  /** Calls back when the process dies, until the returned function is called. */
  onStop(listener: () => void): () => void {
    this.stopListeners.add(listener)
    return () => this.stopListeners.delete(listener)
  }

  freeze(partition: ModelPartition, groups: GroupCoordinator | null): void {
    const { leaderEpoch, log } = partition
    const { endOffset, lastStableOffset } = log
    this.views.set(partitionKey(partition), { leaderEpoch, endOffset, lastStableOffset, groups })
  }

  viewOf(partition: ModelPartition): StaleView | undefined {
    return this.views.get(partitionKey(partition))
  }

  forgetView(key: string): void {
    this.views.delete(key)
  }

  thawViews(): void {
    this.views.clear()
  }
}
