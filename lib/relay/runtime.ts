import type { Clock, Deadline, Random } from '../clock.ts'
import type { SchemaRegistry } from '../codecs/registry/schema-registry.ts'
import type { HeldFence } from '../fencing/fence-rules.ts'
import type { FenceStore } from '../fencing/fence-store.ts'
import type { Cluster } from '../kafka/cluster.ts'
import type { IdempotentProducer } from '../transaction/idempotent-producer.ts'
import type { TransactionSession } from '../transaction/session.ts'
import type { CompiledRelay, RunningRelay } from './compiled-relay.ts'
import type { RelayObserver } from './observer.ts'

/** Settings of a deployment that the engine needs; parsed and checked in config.ts. */
export interface EngineSettings {
  /** Transactional ids and commit groups start with it; unique per deployment (R4). */
  readonly prefix: string
  /** Above the function timeout, at most the broker's maximum (R10). */
  readonly transactionTimeoutMs: number
  readonly functionTimeoutMs: number
  /** Time kept free at the end of an invocation: for a commit, or for giving up in order. */
  readonly commitReserveMs: number
  readonly leaseMs: number
  readonly renewEveryMs: number
  /** Number of the deployment: containers of an older one stand down (R14). null: an operator's tool, which has no opinion. */
  readonly generation: number | null
  /** Names this process in fence records and logs. */
  readonly container: string
  /** Availability zone, for reads from the nearest replica; empty: from the leader. */
  readonly rack: string
  /** Topics that lose records with one broker are worked with; left out: not looked at. */
  readonly acceptWeakTopics?: boolean
}

/** A relay of one deployment and what it stands on: all that its operators need, who transform nothing. */
export interface RelayDeployment {
  readonly relay: CompiledRelay
  readonly cluster: Cluster
  readonly fences: FenceStore
  readonly settings: EngineSettings
  readonly clock: Clock
  readonly random: Random
  readonly observer: RelayObserver
  /** For codecs that name no schema registry of their own. */
  readonly registry?: SchemaRegistry | null
}

/** One container: what is made once and kept warm between invocations. */
export interface RelayRuntime extends RelayDeployment {
  readonly running: RunningRelay
  /** A plain idempotent producer, for the guarantees below exactly-once. */
  openProducer(deadline: Deadline): Promise<IdempotentProducer>
  /** Aborted when the process is asked to end: windows that are under way are finished, no other one begins. */
  readonly stopping?: AbortSignal
  /** By transactional id. */
  readonly warm: Map<string, WarmLane>
  /** `max.message.bytes` per output topic, as far as known; lowered when a broker refuses a batch. */
  readonly batchBytesMax: Map<string, number>
}

/** What a lane leaves for the next bell in the same container. */
export interface WarmLane {
  /** Our last hold of the fence: even a release that was never answered is known to be ours, and over. */
  readonly held: HeldFence
  /** Session and position, after a clean release only (R5, R7). */
  readonly resume: { readonly session: TransactionSession; readonly positions: ReadonlyMap<number, bigint> } | null
  /** How many records its transform managed in time, or should try next; absent: nothing is known of it. */
  readonly recordsInTime?: number
}
