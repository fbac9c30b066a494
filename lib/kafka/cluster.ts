import type { Clock, Deadline } from '../clock.ts'
import type { Api, RequestOf, ResponseOf } from './protocol/generated/index.ts'
import type { NodeAddress } from './transport.ts'

export interface PartitionMetadata {
  readonly partition: number
  /** null while the partition has no leader. */
  readonly leader: NodeAddress | null
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly inSyncReplicas: readonly number[]
}

export interface TopicMetadata {
  readonly name: string
  /** Lower-case UUID; changes when a topic is deleted and made again. */
  readonly topicId: string
  /** Sorted by partition; index equals partition number. */
  readonly partitions: readonly PartitionMetadata[]
}

/** Who should answer: a broker in the role that the request needs. */
export type Target =
  | { readonly to: 'any' }
  | { readonly to: 'node'; readonly node: NodeAddress }
  | { readonly to: 'leader'; readonly topic: string; readonly partition: number }
  | { readonly to: 'transaction-coordinator'; readonly key: string }
  | { readonly to: 'group-coordinator'; readonly key: string }

export interface Answer<A extends Api> {
  readonly body: ResponseOf<A>
  /** The broker that answered: step 9 must ask exactly the one that acknowledged TxnOffsetCommit. */
  readonly node: NodeAddress
  readonly version: number
}

/**
 * A view of one Kafka cluster: metadata with topic ids, leaders, coordinators (cached, forgotten when told) and requests
 * at the highest version that both sides know. It sends each request exactly once: resending is decided by rule, above.
 */
export interface Cluster {
  readonly clock: Clock
  /** @throws RelayError BROKER_UNAVAILABLE, AUTHENTICATION_FAILED */
  clusterId(deadline: Deadline): Promise<string>
  brokers(deadline: Deadline): Promise<readonly NodeAddress[]>
  /** 2 where the finalized `transaction.version` is 2 or more, else 1. Asked from a broker anew on each call. */
  transactionVersion(deadline: Deadline): Promise<1 | 2>
  /**
   * Cached up to 60 s; `fresh` asks again, from another broker than last time when there is one.
   * A missing topic is absent from the map, never an error.
   */
  topics(names: readonly string[], deadline: Deadline, fresh?: 'fresh'): Promise<ReadonlyMap<string, TopicMetadata>>
  /**
   * One transmission. `maxVersion` pins below what is known (AddPartitionsToTxn 3, the older transaction protocol).
   * @throws TransportError when no answer came; RelayError BROKER_UNAVAILABLE when no broker in that role is known.
   */
  request<A extends Api>(
    target: Target,
    api: A,
    body: RequestOf<A>,
    deadline: Deadline,
    options?: { readonly maxVersion?: number; readonly minVersion?: number },
  ): Promise<Answer<A>>
  /** Resolves the target without sending; finds coordinators and leaders. */
  locate(target: Target, deadline: Deadline): Promise<NodeAddress>
  /** Forget where this role is: the next request looks it up again, from another broker when there is one. */
  forget(target: Target): void
  close(): Promise<void>
}
