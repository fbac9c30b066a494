import type { FenceListing } from '../../fencing/fence-store.ts'
import type { CommittedAnswer } from '../../kafka/committed.ts'
import type { NodeAddress } from '../../kafka/transport.ts'
import type { CompiledRelay } from '../../relay/compiled-relay.ts'
import type { LaneId } from '../../relay/lane-id.ts'
import type { TopicRole } from '../../relay/topic-rules.ts'
import type { KafkaAcl } from '../acls.ts'
import type { Told } from '../finding.ts'

/** All that the checks judge, read once. Each part may be missing by itself: one silent service hides no other. */
export interface Facts {
  readonly relays: readonly CompiledRelay[]
  readonly prefix: string
  readonly transactionTimeoutMs: number
  /** How often the sweep rings. */
  readonly sweepEveryMs: number
  /** Topics that lose records with one broker are accepted (FENCEPOST_ACCEPT_WEAK_TOPICS). */
  readonly weakTopicsAccepted: boolean
  /** Table and bucket are those of the local stack: nobody needs them to survive. */
  readonly localStores: boolean
  readonly cluster: Told<ClusterFacts>
  readonly topics: Told<readonly TopicFacts[]>
  readonly rights: Told<readonly RightFacts[]>
  readonly lineages: Told<readonly LaneLineage[]>
  /** Of the sources that are read from events only. */
  readonly producers: readonly SourceProducers[]
  readonly table: Told<TableFacts>
  /** null: this deployment has none. */
  readonly bucket: Told<BucketFacts> | null
  readonly mappings: readonly MappingFacts[]
}

export interface ClusterFacts {
  readonly clusterId: string
  readonly brokers: readonly NodeAddress[]
  /** Finalized feature levels: `metadata.version`, `transaction.version`. */
  readonly features: ReadonlyMap<string, number>
  /** The highest version of each request, by api key, as one broker answered it. */
  readonly highestVersions: ReadonlyMap<number, number>
  /** By broker. Settings that it does not have are absent. */
  readonly settings: ReadonlyMap<number, Told<ReadonlyMap<string, string>>>
}

export interface TopicFacts {
  readonly name: string
  readonly roles: ReadonlySet<TopicRole | 'internal'>
  readonly state: Told<TopicState | null>
}

/** null in place of it: no such topic. */
export interface TopicState {
  readonly topicId: string
  readonly partitions: number
  readonly leaderless: readonly number[]
  /** Fewest replicas of a partition. */
  readonly copies: number
  /** Effective ones, defaults of the broker included. */
  readonly settings: Told<ReadonlyMap<string, string>>
}

/** One ACL that a relay needs, and whether this user has it. */
export interface RightFacts {
  readonly relay: string
  readonly acl: KafkaAcl
  readonly granted: Told<boolean>
}

/** What Kafka and the fence table say of one lane. */
export interface LaneLineage {
  readonly id: LaneId
  readonly committed: readonly CommittedAnswer[]
  readonly record: FenceListing['records'][number] | null
}

export interface SourceProducers {
  readonly relay: string
  readonly topic: string
  /** Transactional producers that wrote to it lately. */
  readonly transactional: Told<number>
}

export interface TableFacts {
  readonly name: string
  /** `id (S)`; several parts where the key has a range. */
  readonly key: string
  readonly status: string
  readonly billing: Told<string>
  readonly restorable: Told<boolean>
  readonly deletionProtected: Told<boolean>
}

export interface BucketFacts {
  readonly name: string
  readonly versioned: Told<boolean>
}

/** An event source mapping and its function, from the account or from a template. */
export interface MappingFacts {
  readonly name: string
  readonly topics: readonly string[]
  readonly consumerGroup: Told<string>
  /** -1: for ever. */
  readonly retriesMax: Told<number>
  /** Seconds; -1: for ever. */
  readonly recordAgeMaxSeconds: Told<number>
  readonly bisect: Told<boolean>
  readonly onFailure: Told<string | null>
  readonly partialFailures: Told<boolean>
  readonly consumptionMode: Told<string>
  readonly schemaRegistry: Told<boolean>
  readonly filtered: Told<boolean>
  readonly startingPosition: Told<string>
  readonly enabled: Told<boolean>
  readonly functionTimeoutMs: Told<number>
  /** What the function itself believes of the mapping. */
  readonly functionPartialFailures: Told<boolean>
  /** FENCEPOST_TRANSACTION_TIMEOUT_MS of the function; null: it has none of its own. */
  readonly functionTransactionTimeoutMs: Told<number | null>
}
