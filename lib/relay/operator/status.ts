import type { Deadline } from '../../clock.ts'
import type { FenceRecord } from '../../fencing/fence-record.ts'
import { isExpired } from '../../fencing/fence-rules.ts'
import { type OpenTransaction, openTransactionOf } from '../../transaction/describe.ts'
import { lanesAt, relayTopics } from '../relay-topics.ts'
import type { RelayDeployment } from '../runtime.ts'
import { type LaneFacts, type PartitionFacts, readLaneFacts } from './lane-facts.ts'

/** How a relay stands, as JSON carries it: offsets as decimal strings, times in milliseconds since the epoch. */
export interface RelayStatus {
  /** No lane is stopped and every fence record can be read. */
  readonly ok: boolean
  readonly relay: string
  readonly prefix: string
  readonly source: string
  readonly atMs: number
  readonly lanes: readonly LaneStatus[]
  readonly unreadable: readonly { readonly lane: string; readonly message: string }[]
}

export type LaneState =
  /** Waits for an operator. */
  | 'stopped'
  /** An order to reset it is not finished; its next owner finishes it. */
  | 'being reset'
  /** Its owner's lease lives. */
  | 'working'
  /** Its owner died at work; the next bell or sweep takes over. */
  | 'left behind'
  /** It has never relayed anything. */
  | 'not started'
  /** Nobody works and there are records. */
  | 'behind'
  | 'up to date'

export interface LaneStatus {
  /** The transactional id. */
  readonly lane: string
  readonly state: LaneState
  readonly partitions: readonly PartitionStatus[]
  /** Offsets that readers see and the lane has not relayed. */
  readonly lag: string
  readonly token: number | null
  readonly owner: { readonly container: string; readonly requestId: string; readonly leaseUntilMs: number } | null
  /** Number of the deployment that owns the lane, and those that were withdrawn. */
  readonly generation: number | null
  readonly withdrawn: FenceRecord['withdrawn']
  /** Earlier withdrawals that still count: generations above the key, up to the value. */
  readonly withdrawnBefore: Readonly<Record<string, number>>
  readonly dirty: boolean
  /** Deaths at work since the position last moved. */
  readonly attempts: number
  readonly stopped: FenceRecord['stopped']
  /** Next offset per partition. */
  readonly resetTo: Readonly<Record<string, string>> | null
  readonly committedAtMs: number | null
  readonly openTransaction: Omit<OpenTransaction, 'summary'> | null
}

export interface PartitionStatus {
  readonly partition: number
  readonly position: string | null
  readonly logStart: string
  readonly stableEnd: string
  readonly logEnd: string
  readonly lag: string
  /** The offset in the commit group is this lane's own. */
  readonly offsetIsOurs: boolean
}

/**
 * Position, lag, owner, fence and open transaction of every lane. Reads only, beside a relay at work: each fact may be a
 * moment older than the others.
 * @throws RelayError TOPIC_MISSING, BROKER_UNAVAILABLE, the fence store's
 */
export async function relayStatus(deployment: RelayDeployment, deadline: Deadline): Promise<RelayStatus> {
  const { relay, settings, cluster, clock } = deployment
  const topics = await relayTopics(deployment, deadline, 'fresh')
  const { lanes, unreadable } = await readLaneFacts(deployment, topics, lanesAt(deployment, topics), deadline)
  const known = await Promise.all(lanes.map(({ id }) => openTransactionOf(cluster, id.transactionalId, deadline)))
  const statuses = lanes.map((facts, index) => laneStatus(facts, known[index] ?? null, clock.now()))
  return {
    ok: unreadable.length === 0 && statuses.every(({ state }) => state !== 'stopped'),
    relay: relay.name,
    prefix: settings.prefix,
    source: relay.sourceTopic,
    atMs: clock.now(),
    lanes: statuses,
    unreadable: unreadable.map(({ id, error }) => ({ lane: id, message: error.message })),
  }
}

const unfinished = new Set(['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'])

function laneStatus(facts: LaneFacts, transaction: OpenTransaction | null, nowMs: number): LaneStatus {
  const { id, record, partitions } = facts
  const lag = partitions.reduce((sum, one) => sum + lagOf(one), 0n)
  const { summary: _, ...open } = transaction ?? { summary: '' }
  return {
    lane: id.transactionalId,
    state: stateOf(facts, lag, nowMs),
    partitions: partitions.map(partitionStatus),
    lag: lag.toString(),
    token: record?.token ?? null,
    owner: record?.owner ? ownerOf(record.owner, record.leaseUntilMs) : null,
    generation: record?.generation ?? null,
    withdrawn: record?.withdrawn ?? null,
    withdrawnBefore: Object.fromEntries(record?.withdrawnBefore ?? []),
    dirty: record?.dirty ?? false,
    attempts: record?.attempts ?? 0,
    stopped: record?.stopped ?? null,
    resetTo: record?.resetTo ? offsetsText(record.resetTo) : null,
    committedAtMs: record?.committedAtMs ?? null,
    openTransaction: 'state' in open && unfinished.has(open.state) ? open : null,
  }
}

function stateOf({ record, partitions }: LaneFacts, lag: bigint, nowMs: number): LaneState {
  if (record?.stopped) return 'stopped'
  if (record?.owner) return isExpired(record, nowMs) ? 'left behind' : 'working'
  if (record?.resetTo) return 'being reset'
  if (record?.dirty) return 'left behind'
  if (partitions.every(({ position }) => position === null)) return 'not started'
  return lag > 0n ? 'behind' : 'up to date'
}

const ownerOf = ({ container, requestId }: NonNullable<FenceRecord['owner']>, leaseUntilMs: number) => ({
  container,
  requestId,
  leaseUntilMs,
})

const offsetsText = (offsets: ReadonlyMap<number, bigint>): Record<string, string> =>
  Object.fromEntries([...offsets].map(([partition, offset]) => [partition, offset.toString()]))

/** All that there is where the lane has not started; 0 where the position is not in the log, which is a stop at the next open. */
function lagOf({ position, logStart, stableEnd }: PartitionFacts): bigint {
  const lag = stableEnd - (position ?? logStart)
  return lag > 0n ? lag : 0n
}

function partitionStatus(facts: PartitionFacts): PartitionStatus {
  const { partition, position, logStart, stableEnd, logEnd, offsetIsOurs } = facts
  return {
    partition,
    position: position?.toString() ?? null,
    logStart: logStart.toString(),
    stableEnd: stableEnd.toString(),
    logEnd: logEnd.toString(),
    lag: lagOf(facts).toString(),
    offsetIsOurs,
  }
}
