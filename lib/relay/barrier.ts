import type { Deadline } from '../clock.ts'
import { RelayError } from '../errors.ts'
import type { FenceHandle } from '../fencing/fence.ts'
import type { FenceRecord } from '../fencing/fence-record.ts'
import { openSession } from '../transaction/open-session.ts'
import type { TransactionSession } from '../transaction/session.ts'
import { type LaneId, superseded, topicPartitions } from './lane-id.ts'
import { needsConfirmation, type PartitionVerdict, type Reconciled, reconcile } from './reconcile.ts'
import type { RelayTopics } from './relay-topics.ts'
import type { RelayDeployment } from './runtime.ts'

export interface BehindBarrier {
  readonly session: TransactionSession
  readonly reconciled: Reconciled
}

/** Most barriers take less: they cost no look. */
const lookEveryMs = 100
/** How often a stale answer of an old group coordinator is worth a new barrier before it is believed. */
const barriersMax = 3

/**
 * Steps 2 to 4: end whatever transaction the id had, fence older sessions, be sure that the lane is still ours, and only
 * then read what is committed (R1). A stop over offsets is believed only when the broker that acknowledges our own
 * offsets confirms it (R8, step 9): a paused ex-coordinator answers with old offsets and no error (P1).
 *
 * @throws RelayError FENCE_SUPERSEDED; the named stop; BARRIER_STUCK, BROKER_UNAVAILABLE, TRANSACTION_TIMEOUT_TOO_LONG
 */
export async function passBarrier(
  runtime: RelayDeployment,
  id: LaneId,
  topics: RelayTopics,
  fence: FenceHandle,
  found: FenceRecord | null,
  deadline: Deadline,
): Promise<BehindBarrier> {
  for (let barrier = 1; ; barrier++) {
    const session = await openBehindBarrier(runtime, id, fence, deadline)
    const committed = await session.readCommitted(topicPartitions(id), deadline)
    const { clusterId, sourceTopicId } = topics
    const reconciled = reconcile({ transactionalId: id.transactionalId, found, clusterId, sourceTopicId, committed })
    const stop = firstStop(reconciled)
    if (!stop) return { session, reconciled }
    if (!needsConfirmation(stop.code)) throw stopError(id, stop)
    const confirmed = await session.confirmCommitted(topicPartitions(id), deadline)
    const same = committed.every((one, index) => one.offset === confirmed[index]?.offset)
    if (same) throw stopError(id, stop)
    if (barrier === barriersMax) throw new RelayError('OFFSETS_DISAGREE', disagree(id), { disposition: 'retry' })
    runtime.cluster.forget({ to: 'group-coordinator', key: id.group })
  }
}

/** The read after the barrier keeps out an owner that slept between acquiring and its barrier (S2). */
export async function openBehindBarrier(
  deployment: RelayDeployment,
  id: LaneId,
  fence: FenceHandle,
  deadline: Deadline,
): Promise<TransactionSession> {
  const { transactionTimeoutMs } = deployment.settings
  const mayTryAgain = stillOurs(deployment, id, fence, deadline)
  const config = { transactionalId: id.transactionalId, group: id.group, transactionTimeoutMs, mayTryAgain }
  const session = await openSession(deployment.cluster, config, deployment.random, deadline)
  const standing = await fence.confirm(deadline)
  if (standing === 'ours') return session
  throw superseded(id)
}

/**
 * A barrier that is stuck behind a slow marker is tried again and again, and each try fences whoever has the id: also the
 * owner who took the lane over meanwhile, as often as his own session is new. So a try is preceded by a look at the record.
 */
function stillOurs({ clock }: RelayDeployment, id: LaneId, fence: FenceHandle, deadline: Deadline) {
  let lookedMs = clock.now()
  return async (): Promise<void> => {
    if (clock.now() - lookedMs < lookEveryMs) return
    if ((await fence.confirm(deadline)) !== 'ours') throw superseded(id)
    lookedMs = clock.now()
  }
}

type Stop = Extract<PartitionVerdict, { kind: 'stop' }>

function firstStop({ partitions }: Reconciled): Stop | null {
  for (const verdict of partitions.values()) if (verdict.kind === 'stop') return verdict
  return null
}

const stopError = (id: LaneId, { code, message }: Stop): RelayError =>
  new RelayError(code, `lane ${id.transactionalId} stops: ${message}. ${stopFix[code]}`, {
    context: { lane: id.transactionalId },
  })

const disagree = (id: LaneId): string =>
  `lane ${id.transactionalId}: brokers answered different committed offsets ${barriersMax} times; a coordinator is moving, try again`

const stopFix: Record<Stop['code'], string> = {
  SOURCE_REPLACED: 'To relay the new log from a chosen place, reset the lane',
  PREFIX_SHARED: 'Give each deployment a transactional id prefix of its own',
  OFFSETS_LOST:
    'Kafka forgot the offset (7 idle days, or the group was deleted): check the outputs, then reset the lane',
  OFFSET_REGRESSED: 'Somebody moved the offset back: set it forward again, or reset the lane to accept duplicates',
  OFFSET_MOVED: 'Somebody moved the offset: set it back, or reset the lane to accept the gap',
}
