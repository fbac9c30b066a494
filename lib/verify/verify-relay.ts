import type { FenceStore } from '../fencing/fence-store.ts'
import type { Cluster } from '../kafka/cluster.ts'
import type { CompiledRelay } from '../relay/compiled-relay.ts'
import type { IdSource } from './identity.ts'
import { judge } from './judge.ts'
import type { OnProgress } from './progress.ts'
import { readHistory } from './read-history.ts'
import { reportOf, type VerifyReport } from './report.ts'

export interface VerifyOptions {
  readonly relay: CompiledRelay
  readonly prefix: string
  readonly cluster: Cluster
  /** To judge fence records too, and to know pinned partition counts. */
  readonly fences?: FenceStore
  /** For the relay's `setup`. */
  readonly secret?: (name: string) => Promise<string>
  /** Count records by an id of their own instead of transforming them again. */
  readonly id?: IdSource
  /** Judge only what was written in the last so many milliseconds. */
  readonly lastMs?: number
  /** The source must be relayed to its end. */
  readonly complete?: boolean
  /** How long to wait for transactions that are under way. Default 30,000. */
  readonly settleMs?: number
  readonly onProgress?: OnProgress
}

/**
 * Proves from the log that a relay relayed every record once, or says where it did not. Only reads; may run beside the
 * relay: what is committed while it reads is neither missed nor held against it.
 *
 * @throws RelayError when it cannot tell: BROKER_UNAVAILABLE, TOPIC_MISSING, OFFSET_OUT_OF_RANGE (retention was quicker),
 *   RECORD_REJECTED_STOP and others of the relay's own transform
 */
export async function verifyRelay(options: VerifyOptions): Promise<VerifyReport> {
  const { complete = false } = options
  const { clock } = options.cluster
  const began = clock.now()
  const history = await readHistory(options)
  const judgement = judge(history)
  return reportOf(history, judgement, { complete, seconds: (clock.now() - began) / 1000 })
}
