import { type TopicPartition, tpKey } from '../../kafka/record.ts'
import type { Marker } from './batches.ts'
import { codes } from './codes.ts'
import { ProducerStates } from './producer-state.ts'

export interface GroupOffset extends TopicPartition {
  readonly offset: bigint
  readonly leaderEpoch: number
  readonly metadata: string
}

interface Commit extends GroupOffset {
  /** Place in the offsets log: of a plain and a transactional commit the later one wins (KAFKA-5247). */
  readonly order: bigint
  readonly committedAtMs: number
}

type Commits = Map<string, Commit>

/** What OffsetFetch answers for one partition; `offset` null when nothing is committed. */
export interface FetchedOffset {
  readonly code: number
  readonly committed: GroupOffset | null
}

/**
 * The committed offsets of groups without members, for the groups of one partition of `__consumer_offsets`. A
 * transactional commit is pending from TxnOffsetCommit until its marker is written here.
 *
 * Source: Kafka `OffsetMetadataManager.java` (the coordinator of 4.x); KIP-447, KIP-98.
 */
export class GroupCoordinator {
  /** Transactional writes to this offsets partition. */
  readonly producers = new ProducerStates()
  private readonly groups = new Map<string, Commits>()
  /** By producer id, then by group. */
  private readonly pending = new Map<bigint, Map<string, Commits>>()
  private nextOrder = 0n

  has(group: string): boolean {
    return this.groups.has(group)
  }

  names(): readonly string[] {
    return [...this.groups.keys()]
  }

  /** Plain commits are taken at any time: a group without members counts as empty (P2). */
  commit(group: string, offsets: readonly GroupOffset[], nowMs: number): void {
    const commits = this.groupOf(group)
    for (const offset of offsets) commits.set(tpKey(offset), this.entry(offset, nowMs))
  }

  commitPending(group: string, marker: PendingOwner, offsets: readonly GroupOffset[], nowMs: number): number {
    const { producerId, producerEpoch } = marker
    const code = this.producers.checkEpoch(producerId, producerEpoch)
    if (code !== codes.NONE) return code
    this.groupOf(group)
    const commits = this.pendingOf(producerId, group)
    for (const offset of offsets) commits.set(tpKey(offset), this.entry(offset, nowMs))
    this.producers.appendedWithoutSequence(producerId, producerEpoch, this.nextOrder, nowMs)
    return codes.NONE
  }

  /** The transaction's marker reached this offsets partition. `settle` runs what makes its offsets readable. */
  endTransaction(marker: Marker, nowMs: number, settle: (run: () => void) => void): number {
    const code = this.producers.checkMarker(marker)
    if (code !== codes.NONE) return code
    this.producers.ended(marker, nowMs)
    this.nextOrder++
    settle(() => this.settle(marker))
    return codes.NONE
  }

  /**
   * The older coordinator notes offsets before it appends them. A request of a fenced session that meets its successor's
   * transaction is refused at the append, and what is noted for the partition goes with it, whoever noted it.
   * Source: Kafka 3.9 `GroupMetadata.prepareTxnOffsetCommit`, `failPendingTxnOffsetCommit`.
   */
  dropNoted(group: string, producerId: bigint, partitions: readonly TopicPartition[]): void {
    const commits = this.pending.get(producerId)?.get(group)
    for (const partition of partitions) commits?.delete(tpKey(partition))
  }

  fetch(group: string, partition: TopicPartition, requireStable: boolean): FetchedOffset {
    if (requireStable && this.isPending(group, partition)) {
      return { code: codes.UNSTABLE_OFFSET_COMMIT, committed: null }
    }
    return { code: codes.NONE, committed: this.groups.get(group)?.get(tpKey(partition)) ?? null }
  }

  committedPartitions(group: string): readonly TopicPartition[] {
    return [...(this.groups.get(group)?.values() ?? [])]
  }

  /** OffsetDelete: pending commits of the partition go with it (P2). */
  deleteOffset(group: string, partition: TopicPartition): void {
    const key = tpKey(partition)
    this.groups.get(group)?.delete(key)
    for (const groups of this.pending.values()) groups.get(group)?.delete(key)
  }

  deleteGroup(group: string): void {
    this.groups.delete(group)
    for (const groups of this.pending.values()) groups.delete(group)
  }

  /** A deleted topic takes its committed offsets with it, and the pending ones. */
  deleteTopic(topic: string): void {
    const all = [...this.groups.values(), ...[...this.pending.values()].flatMap((groups) => [...groups.values()])]
    for (const commits of all) {
      for (const [key, commit] of commits) if (commit.topic === topic) commits.delete(key)
    }
  }

  /** Per partition since its last commit, pending ones aside; a group without offsets goes too (eos.md 2.3, no. 50). */
  expire(beforeMs: number): void {
    for (const [group, commits] of this.groups) {
      for (const [key, commit] of commits) {
        if (commit.committedAtMs <= beforeMs && !this.isPending(group, commit)) commits.delete(key)
      }
      if (commits.size === 0 && !this.hasPending(group)) this.groups.delete(group)
    }
  }

  /** What an ex-coordinator still believes: a copy that nothing reaches any more (P1). */
  frozen(): GroupCoordinator {
    const copy = new GroupCoordinator()
    for (const [group, commits] of this.groups) copy.groups.set(group, new Map(commits))
    return copy
  }

  /** Whatever is noted for the producer by now: what its next transaction has noted already too, as in Kafka. */
  private settle({ producerId, commit }: Marker): void {
    const groups = this.pending.get(producerId) ?? new Map<string, Commits>()
    this.pending.delete(producerId)
    if (commit) for (const [group, commits] of groups) this.materialize(group, commits)
  }

  private materialize(group: string, pending: Commits): void {
    const commits = this.groupOf(group)
    for (const [key, commit] of pending) {
      const existing = commits.get(key)
      if (existing === undefined || existing.order < commit.order) commits.set(key, commit)
    }
  }

  private isPending(group: string, partition: TopicPartition): boolean {
    return [...this.pending.values()].some((groups) => groups.get(group)?.has(tpKey(partition)) ?? false)
  }

  private hasPending(group: string): boolean {
    return [...this.pending.values()].some((groups) => groups.has(group))
  }

  private entry(offset: GroupOffset, committedAtMs: number): Commit {
    return { ...offset, committedAtMs, order: this.nextOrder++ }
  }

  private groupOf(group: string): Commits {
    const commits = this.groups.get(group) ?? new Map()
    this.groups.set(group, commits)
    return commits
  }

  private pendingOf(producerId: bigint, group: string): Commits {
    const groups = this.pending.get(producerId) ?? new Map<string, Commits>()
    this.pending.set(producerId, groups)
    const commits = groups.get(group) ?? new Map()
    groups.set(group, commits)
    return commits
  }
}

export interface PendingOwner {
  readonly producerId: bigint
  readonly producerEpoch: number
}
