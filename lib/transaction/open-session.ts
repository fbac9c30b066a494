import type { Deadline, Random } from '../clock.ts'
import type { Cluster } from '../kafka/cluster.ts'
import { barrier } from './barrier.ts'
import { SessionLedger } from './ledger.ts'
import type { SessionConfig, TransactionSession } from './session.ts'
import { KafkaTransactionSession } from './transaction-session.ts'

export const ATTEMPT_TIMEOUT_MS = 5_000

/**
 * Step 2: the barrier of one transactional id, and the session that it opens.
 *
 * When it resolves, the last transaction of the id is committed or aborted with all its markers written, and every older
 * session of the id is refused by epoch. So what is read afterwards is what the next transaction may build on, never
 * before (R1). The transaction protocol is the one that the cluster has finalized at this moment.
 * @throws RelayError BARRIER_STUCK, TRANSACTION_TIMEOUT_TOO_LONG, NOT_AUTHORIZED, BROKER_UNAVAILABLE
 * @example
 * const session = await openSession(cluster, config, systemRandom, deadline)
 * const [committed] = await session.readCommitted([{ topic: 'orders', partition: 0 }], deadline)
 */
export async function openSession(
  cluster: Cluster,
  config: SessionConfig,
  random: Random,
  deadline: Deadline,
): Promise<TransactionSession> {
  const attemptTimeoutMs = config.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS
  const protocol = await cluster.transactionVersion(deadline)
  let mayFenceItself = false
  const onUnanswered = () => {
    mayFenceItself = true
  }
  const identity = await barrier(cluster, { ...config, attemptTimeoutMs, onUnanswered }, random, deadline)
  const ledger = new SessionLedger(config.transactionalId, protocol, identity)
  return new KafkaTransactionSession({ cluster, ledger, random, attemptTimeoutMs }, config, mayFenceItself)
}
