import type { Deadline, Random } from '../clock.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { barrier } from './barrier.ts'
import { SessionLedger } from './ledger.ts'
import { ATTEMPT_TIMEOUT_MS } from './open-session.ts'
import { produce } from './produce.ts'
import type { PartitionBatches } from './session.ts'

/** Writes outputs outside of any transaction, for the guarantees `at-least-once` and `none`. */
export interface IdempotentProducer {
  /** False after a failure: sequences may have a hole then, so only a new producer can go on. */
  readonly usable: boolean
  /**
   * Resolves when all in-sync replicas have every batch. Calls are served one after another, so that a caller who does
   * not wait (guarantee `none`) keeps the order of each partition all the same.
   * @throws RelayError RECORD_TOO_LARGE, RECORD_INVALID, TOPIC_MISSING, NOT_AUTHORIZED, SESSION_FENCED, SESSION_POISONED
   */
  send(outputs: readonly PartitionBatches[], deadline: Deadline): Promise<void>
}

/**
 * A plain idempotent producer: no transactional id, so it fences nobody; within it, a resend is never a second copy.
 * @throws RelayError NOT_AUTHORIZED, BROKER_UNAVAILABLE
 */
export async function openIdempotentProducer(
  cluster: Cluster,
  random: Random,
  deadline: Deadline,
): Promise<IdempotentProducer> {
  const attemptTimeoutMs = ATTEMPT_TIMEOUT_MS
  const asked = { transactionalId: null, transactionTimeoutMs: -1, attemptTimeoutMs }
  const identity = await barrier(cluster, asked, random, deadline)
  const ledger = new SessionLedger(null, 1, identity)
  ledger.begin(null)
  let last: Promise<void> = Promise.resolve()
  return {
    get usable() {
      return ledger.state === 'open'
    },
    send(outputs, deadline) {
      const send = () => produce({ cluster, ledger, random, attemptTimeoutMs }, outputs, deadline)
      const sent = last.then(send)
      last = sent.catch(() => undefined) // its caller hears of it; the ledger refuses whatever comes after
      return sent
    },
  }
}
