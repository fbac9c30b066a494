import type { SchemaRegistry } from '../codecs/registry/schema-registry.ts'
import type { FenceStore } from '../fencing/fence-store.ts'
import type { Cluster } from '../kafka/cluster.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import type { IdPlace } from './identity.ts'
import type { OnProgress } from './progress.ts'

export interface VerifyOptions {
  readonly relay: CompiledRelay
  /** Of the deployment: names the relay's commit group and transactional ids. */
  readonly prefix: string
  readonly cluster: Cluster
  /** To judge the fence records as well, and to know the partition counts that they pin. */
  readonly fences?: FenceStore
  /** For the relay's `setup`. */
  readonly secret?: (name: string) => Promise<string>
  /** For the relay's codecs. */
  readonly registry?: SchemaRegistry | null
  /** Count the records of the source by an id that they carry, instead of transforming them again. */
  readonly id?: IdPlace
  /** Judge only what was written in the last so many milliseconds, by the records' timestamps. */
  readonly lastMs?: number
  /** Not proven while anything is left to relay. */
  readonly complete?: boolean
  /** Another relay is not asked what only Fencepost keeps: whose offsets were committed (14), who wrote for whom (16). */
  readonly relayedBy?: 'fencepost' | 'another'
  /** How long to wait for transactions that are under way. Default 30,000. */
  readonly settleMs?: number
  /** Called about twice a second while the log is read. */
  readonly onProgress?: OnProgress
}
